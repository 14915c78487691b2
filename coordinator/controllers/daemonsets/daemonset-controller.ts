/** The DaemonSet controller: one queue for whole DaemonSets, one for their nodes, and a tally for each DaemonSet. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { Worker } from '../queue/reconcile-worker.js';
import type { DaemonSetDeps } from './daemonset-deps.js';
import { DaemonSetFleetReconciler } from './daemonset-fleet-reconciler.js';
import { fleetKey, nodeKey } from './daemonset-keys.js';
import { DaemonSetNodeReconciler } from './daemonset-node-reconciler.js';
import { DaemonSetTallies } from './daemonset-tallies.js';
import { watchDaemonSetTriggers } from './daemonset-triggers.js';

/**
 * Concurrent reconciles of nodes. Their writes fill one commit of the store, and its answers do not block the event
 * loop.
 */
const NODES_AT_ONCE = 64;

/** Call it when the informers have synced. Call `onClockStep` when the wall clock was set. */
export function startDaemonSetController(deps: DaemonSetDeps): {
  onClockStep(): void;
  stop(): Promise<void>;
} {
  const { informers, clock, log, queueMeter } = deps;
  const worker = { informers, clock, log, ...(queueMeter ? { queueMeter } : {}) };
  const tallies = new DaemonSetTallies();
  const nodes = new DaemonSetNodeReconciler(deps, tallies, {
    tallyMoved: (key) => debounceFleet(key),
    wakeNode: (key) => nodeWorker.queue.add(key),
  });
  const nodeWorker = new Worker({
    name: 'daemonset-node',
    reconcile: (key, context) => nodes.reconcile(key, context),
    ...worker,
    concurrency: NODES_AT_ONCE,
  });
  const enqueueFleet = (key: string) => fleetWorker.queue.add(key);
  const fleet = new DaemonSetFleetReconciler(deps, tallies, nodes, () => nodeWorker.queue, enqueueFleet);
  const fleetWorker = new Worker({
    name: 'daemonset',
    reconcile: (key, context) => fleet.reconcile(key, context),
    ...worker,
  });
  const debounceFleet = (key: string) => fleetWorker.queue.addAfter(key, fleet.statusDebounceMs(key));
  watchDaemonSetTriggers(informers, {
    fleet: (daemonSet) => debounceFleet(fleetKey(daemonSet)),
    node: (daemonSet: DaemonSet, nodeName) => {
      tallies.of(daemonSet)?.tally.markInProgress(nodeName);
      nodeWorker.queue.add(nodeKey(daemonSet, nodeName));
    },
    gone: (daemonSet) => {
      nodes.forget(daemonSet.metadata.uid ?? '');
      fleetWorker.queue.add(fleetKey(daemonSet));
    },
  });
  return {
    onClockStep: () => {
      for (const daemonSet of informers.daemonSets.list()) {
        fleet.forget(daemonSet.metadata);
        fleetWorker.queue.add(fleetKey(daemonSet));
      }
    },
    stop: async () => {
      await Promise.all([nodeWorker.stop(), fleetWorker.stop()]);
    },
  };
}
