/** Pods of other runs of the same CronDaemonJob on this host. */
import { startRulesOf } from '../../shared/kube/daemonjobs/daemonjob-start.js';
import { type AssignedPod, hasRemovedContainers, isStopping } from '../decisions/pods/assigned-pod.js';
import type { SeriesPod } from '../decisions/pods/start-gate.js';
import type { PodWorker } from './pod-worker.js';

/** Pods of another namespace never count: a user could copy the uid of a series. */
export function seriesPods(own: AssignedPod, workers: Iterable<PodWorker>): SeriesPod[] {
  const series = startRulesOf(own.pod)?.series?.uid;
  return [...workers].flatMap((worker): SeriesPod[] => {
    const { assigned } = worker;
    const rules = startRulesOf(assigned.pod);
    const isOfSeries =
      rules?.series?.uid === series && assigned.pod.metadata.namespace === own.pod.metadata.namespace;
    if (assigned.uid === own.uid || !isOfSeries) return [];
    const state = stateOf(worker);
    const at = Date.parse(rules?.at ?? '') || 0;
    return state === undefined ? [] : [{ uid: assigned.uid, at, state }];
  });
}

/**
 * Returns undefined for a Pod that has ended. A restarted agent does not know the containers of a Pod before its first
 * inspection; otherwise a Pod that runs would look as if it waited or had ended, and a second run would start.
 */
function stateOf(worker: PodWorker): SeriesPod['state'] | undefined {
  const { assigned, isInspected, isFinished, isAdmitted, hasContainers } = worker;
  if (!isInspected) return hasRemovedContainers(assigned) ? undefined : 'uninspected';
  if (isFinished) return undefined;
  if (assigned.terminal || isStopping(assigned)) return hasContainers ? 'ending' : 'waiting';
  return isAdmitted ? 'running' : 'waiting';
}
