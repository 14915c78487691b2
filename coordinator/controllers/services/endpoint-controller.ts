/** The controller of EndpointSlices and Endpoints: two queues with the keys of Services. */
import { SLICES_BY_SERVICE } from '../../informers/informer.js';
import { type QueueMeter, Worker } from '../queue/reconcile-worker.js';
import { watchEndpointTriggers } from './endpoint-triggers.js';
import { EndpointsReconciler } from './endpoints-reconciler.js';
import { type EndpointControllerDeps, GATHER_MS, SliceReconciler } from './slice-reconciler.js';

/**
 * Gather time of Endpoints for each slice of the Service. Endpoints are one object, so that 1,000 addresses are written
 * for one change.
 */
const ENDPOINTS_GATHER_MS = 100;
const MAX_GATHER_MS = 10_000;

/** Call it when the informers have synced. Reconciles of one Service never overlap in one queue. */
export function startEndpointController(deps: EndpointControllerDeps & { queueMeter?: QueueMeter }): {
  stop(): Promise<void>;
} {
  const { informers, clock, log, queueMeter } = deps;
  const worker = { informers, clock, log, ...(queueMeter ? { queueMeter } : {}) };
  const slices = new SliceReconciler(deps);
  const endpoints = new EndpointsReconciler(deps);
  const sliceWorker = new Worker({
    name: 'endpoint-slice',
    reconcile: (key, context) => slices.reconcile(key, context),
    ...worker,
  });
  const endpointsWorker = new Worker({
    name: 'endpoint',
    reconcile: (key, context) => endpoints.reconcile(key, context),
    ...worker,
  });
  const queueEndpoints = (key: string) => {
    const { length } = informers.endpointSlices.indexed(SLICES_BY_SERVICE, key);
    endpointsWorker.queue.addAfter(key, Math.min(MAX_GATHER_MS, GATHER_MS + ENDPOINTS_GATHER_MS * length));
  };
  watchEndpointTriggers(informers, {
    service: (key) => {
      slices.requestFullPass(key);
      sliceWorker.queue.add(key);
      queueEndpoints(key);
    },
    pod: (key, pod, triggeredAt) => {
      slices.stateOf(key)?.markPod(pod);
      slices.triggerTimes.mark(key, triggeredAt);
      endpoints.triggerTimes.mark(key, triggeredAt);
      sliceWorker.queue.addAfter(key, slices.gatherMs(key));
    },
    slice: (key, change) => {
      if (slices.stateOf(key)?.sliceChanged(change) !== false) sliceWorker.queue.addAfter(key, GATHER_MS);
      queueEndpoints(key);
    },
    endpoints: queueEndpoints,
  });
  return {
    stop: async () => {
      await Promise.all([sliceWorker.stop(), endpointsWorker.stop()]);
    },
  };
}
