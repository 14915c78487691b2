/** Keeps the Endpoints of each Service with a selector (pkg/controller/endpoint). Derived from the Service's slices. */
import { isDeepStrictEqual } from 'node:util';
import { ApiError, unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { Endpoints } from '../../../shared/kube/services/endpoint-types.js';
import type { Service } from '../../../shared/kube/services/service-types.js';
import {
  ENDPOINTS_CONTROLLER,
  ENDPOINTS_MANAGED_BY,
  type EndpointsContent,
  endpointsContent,
  OVER_CAPACITY,
  TRUNCATED,
} from '../../decisions/services/endpoints-object.js';
import { SLICES_BY_SERVICE } from '../../informers/informer.js';
import { endpointsKind } from '../../kinds/index.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { isNamespaceEnding } from '../daemonsets/create-gate.js';
import { splitKey } from '../queue/object-key.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import { endpointSelectorOf } from './service-selector-index.js';
import { type EndpointControllerDeps, isManaged } from './slice-reconciler.js';
import { setTriggerTime } from './slice-writer.js';
import { TriggerTimes } from './trigger-times.js';

/** Keys are `namespace/name` of Services and of their Endpoints. */
export class EndpointsReconciler {
  readonly #deps: EndpointControllerDeps;
  readonly triggerTimes = new TriggerTimes();

  constructor(deps: EndpointControllerDeps) {
    this.#deps = deps;
  }

  async reconcile(key: string, context: ReconcileContext): Promise<void> {
    const { informers } = this.#deps;
    const ref = splitKey(key);
    const service = informers.services.get(ref);
    const present = informers.endpoints.get(ref);
    if (!service) {
      this.triggerTimes.forget(key);
      if (present && isControllers(present)) await this.#remove(present, context);
      return;
    }
    if (!endpointSelectorOf(service)) return;
    const slices = informers.endpointSlices.indexed(SLICES_BY_SERVICE, key).filter(isManaged);
    const content = endpointsContent(service, slices);
    const triggerTime = this.triggerTimes.take(service);
    if (present && matches(present, content)) return;
    if (present) await unlessGone(() => this.#update(present, content, { triggerTime, context }));
    else if (!service.metadata.deletionTimestamp)
      await this.#create(service, content, { triggerTime, context });
  }

  async #create(
    service: Service,
    content: EndpointsContent,
    { triggerTime, context }: WriteFacts,
  ): Promise<void> {
    const { name, namespace } = service.metadata;
    const body: Endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name } };
    setContent(body, content, triggerTime);
    try {
      context.observeWrite((await this.#deps.registry.create(endpointsKind, namespace, body)).object());
    } catch (error) {
      // A user was faster. The informer reports that object, and the next reconcile updates it.
      const isPresent = error instanceof ApiError && error.reason === 'AlreadyExists';
      if (isPresent || isNamespaceEnding(error)) return;
      const message = `Failed to create endpoint for service ${namespace}/${name}: ${(error as Error).message}`;
      this.#deps.recordEvent(service, 'Warning', 'FailedToCreateEndpoint', message);
      throw error;
    }
  }

  async #update(
    present: Endpoints,
    content: EndpointsContent,
    { triggerTime, context }: WriteFacts,
  ): Promise<void> {
    const change = (stored: Endpoints): undefined => setContent(stored, content, triggerTime);
    const options = { preconditions: preconditionsOf(present) };
    const record = await this.#deps.registry.modify(endpointsKind, present.metadata, change, options);
    context.observeWrite(record.object());
  }

  async #remove(endpoints: Endpoints, context: ReconcileContext): Promise<void> {
    const preconditions = preconditionsOf(endpoints);
    await unlessGone(async () => {
      const result = await this.#deps.registry.delete(endpointsKind, endpoints.metadata, { preconditions });
      context.observeWrite(result.object);
    });
  }
}

interface WriteFacts {
  triggerTime: string | undefined;
  context: ReconcileContext;
}

/** Endpoints of users are kept when their Service is deleted. */
function isControllers({ metadata }: Endpoints): boolean {
  return metadata.labels?.[ENDPOINTS_MANAGED_BY] === ENDPOINTS_CONTROLLER;
}

function matches({ metadata, subsets = [] }: Endpoints, content: EndpointsContent): boolean {
  return (
    isDeepStrictEqual(subsets, content.subsets) &&
    isDeepStrictEqual(metadata.labels ?? {}, content.labels) &&
    (metadata.annotations?.[OVER_CAPACITY] === TRUNCATED) === content.isTruncated
  );
}

function setContent(
  endpoints: Endpoints,
  { subsets, labels, isTruncated }: EndpointsContent,
  triggerTime: string | undefined,
): undefined {
  const { metadata } = endpoints;
  endpoints.subsets = subsets;
  metadata.labels = { ...labels };
  const { [OVER_CAPACITY]: _, ...others } = metadata.annotations ?? {};
  metadata.annotations = { ...others, ...(isTruncated ? { [OVER_CAPACITY]: TRUNCATED } : {}) };
  setTriggerTime(metadata, triggerTime);
}
