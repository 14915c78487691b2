/** Mirrors Endpoints that users write to EndpointSlices (pkg/controller/endpointslicemirroring). */
import { refText } from '../../../shared/kube/objects/meta.js';
import {
  type EndpointSlice,
  MANAGED_BY_LABEL,
  SERVICE_NAME_LABEL,
} from '../../../shared/kube/services/endpoint-types.js';
import { serviceKey } from '../../../shared/kube/services/service-types.js';
import {
  isMirrorable,
  MIRRORING_CONTROLLER,
  mirrorChanges,
} from '../../decisions/services/mirrored-slices.js';
import { SLICES_BY_SERVICE } from '../../informers/informer.js';
import { splitKey } from '../queue/object-key.js';
import { type QueueMeter, type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import { endpointSelectorOf } from './service-selector-index.js';
import { type EndpointControllerDeps, GATHER_MS } from './slice-reconciler.js';
import { writeSlices } from './slice-writer.js';

type MirroringDeps = Omit<EndpointControllerDeps, 'recordEvent'> & { queueMeter?: QueueMeter };

/** Call it when the informers have synced. Keys are `namespace/name` of Services and of their Endpoints. */
export function startEndpointMirroring(deps: MirroringDeps): { stop(): Promise<void> } {
  const { services, endpoints, endpointSlices } = deps.informers;
  const worker = new Worker({
    name: 'endpoint-slice-mirroring',
    reconcile: (key, context) => mirror(deps, key, context),
    ...deps,
  });
  const queue = (key: string) => worker.queue.addAfter(key, GATHER_MS);
  for (const informer of [services, endpoints]) {
    informer.onChange(({ previous, current }) => {
      const object = current ?? previous;
      if (object) queue(refText(object.metadata));
    });
  }
  endpointSlices.onChange(({ previous, current }) => {
    for (const slice of [previous, current]) {
      const name = slice?.metadata.labels?.[SERVICE_NAME_LABEL];
      if (slice && name && isMirror(slice))
        queue(serviceKey({ namespace: slice.metadata.namespace ?? '', name }));
    }
  });
  return { stop: () => worker.stop() };
}

async function mirror(
  { informers, registry }: MirroringDeps,
  key: string,
  context: ReconcileContext,
): Promise<void> {
  const endpoints = informers.endpoints.get(splitKey(key));
  const service = informers.services.get(splitKey(key));
  const existing = informers.endpointSlices.indexed(SLICES_BY_SERVICE, key).filter(isMirror);
  const isMirrored = endpoints && service && !endpointSelectorOf(service) && isMirrorable(endpoints);
  const changes = isMirrored
    ? mirrorChanges(endpoints, existing)
    : { create: [], update: [], remove: existing };
  const deps = { registry, onWrite: (slice: EndpointSlice) => context.observeWrite(slice) };
  await writeSlices(deps, endpoints, changes, undefined);
}

function isMirror({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[MANAGED_BY_LABEL] === MIRRORING_CONTROLLER;
}
