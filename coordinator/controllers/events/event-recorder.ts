/** Records Events of controllers. Callers never wait. */
import type { ObjectReference } from '../../../shared/kube/objects/event-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import type { Informers } from '../../informers/informer.js';
import { isTerminating } from '../../registry/admission/namespace-lifecycle.js';
import type { EventStore } from '../../registry/events/event-store.js';
import { DEFAULT_NAMESPACE, EventCorrelator } from './event-correlator.js';

interface EventRecorderDeps {
  eventStore: Pick<EventStore, 'record'>;
  informers: Pick<Informers, 'namespaces' | 'revision'>;
  clock: Clock;
}

/** One recorder for all controllers. Events of cluster-scoped objects are stored in the namespace `default`. */
export class EventRecorder {
  readonly #deps: EventRecorderDeps;
  readonly #correlator = new EventCorrelator();

  constructor(deps: EventRecorderDeps) {
    this.#deps = deps;
  }

  /** Returns the recorder of one component, for example `daemonset-controller`. */
  forComponent(component: string): RecordEvent {
    return (object, type, reason, message, counted) => {
      const { eventStore, clock } = this.#deps;
      const about = referenceTo(object);
      const event = this.#correlator.correlate(
        { component, about, type, reason, message, ...(counted && { counted }) },
        clock.now(),
      );
      if (event) eventStore.record(event, () => this.#isActive(about.namespace ?? DEFAULT_NAMESPACE));
    };
  }

  /** True if the namespace exists and is not being deleted. Before the first list of Namespaces all count as active. */
  #isActive(name: string): boolean {
    const { informers } = this.#deps;
    const namespace = informers.namespaces.get({ name });
    return namespace ? !isTerminating(namespace) : informers.revision < 0;
  }
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { namespace, name, uid } = metadata;
  return { kind, ...(namespace && { namespace }), name, ...(uid && { uid }), apiVersion };
}
