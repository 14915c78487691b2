/** Models of DaemonSets' Pods: those of one template differ in their node alone, and are admitted and encoded once. */
import type { Pod } from '../../shared/kube/pod.js';
import type { DaemonSet } from '../../shared/kube/workload.js';
import { daemonPodOn } from '../decisions/daemon-pod.js';
import { podKind } from '../kinds/index.js';
import { sameJson } from '../registry/json-value.js';
import type { ObjectModel, Registry } from '../registry/registry.js';

interface Known {
  /** What the model was made from; the same of its metadata means the same of all. */
  metadata: Pod['metadata'];
  model: ObjectModel<Pod>;
}

export class DaemonPodModels {
  readonly #registry: Pick<Registry, 'model'>;
  /** Specs are shared by all states of a DaemonSet between two changes of them. */
  readonly #known = new WeakMap<DaemonSet['spec'], Known>();

  constructor(registry: Pick<Registry, 'model'>) {
    this.#registry = registry;
  }

  /** The model of `pod`, which is bound and one of the DaemonSet's. Throws ApiError when no such Pod may be created. */
  of({ spec, metadata: { namespace } }: DaemonSet, pod: Pod): ObjectModel<Pod> {
    const known = this.#known.get(spec);
    if (known && sameJson(known.metadata, pod.metadata)) return known.model;
    const model = this.#registry.model(podKind, namespace, pod, daemonPodOn, pod.spec.nodeName ?? '');
    this.#known.set(spec, { metadata: pod.metadata, model });
    return model;
  }
}
