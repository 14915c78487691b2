/** Pods of other runs of the same CronDaemonJob on this host. */
import { startRulesOf } from '../../shared/kube/daemonjobs/daemonjob-start.js';
import { type AssignedPod, isStopping } from '../decisions/pods/assigned-pod.js';
import type { SeriesPod } from '../decisions/pods/start-gate.js';
import type { PodWorker } from './pod-worker.js';

/** Pods of another namespace never count: a user could copy the uid of a series. */
export function seriesPods(own: AssignedPod, workers: Iterable<PodWorker>): SeriesPod[] {
  const series = startRulesOf(own.pod)?.series?.uid;
  return [...workers].flatMap((worker): SeriesPod[] => {
    const { assigned, isFinished } = worker;
    const rules = startRulesOf(assigned.pod);
    const isOfSeries =
      rules?.series?.uid === series && assigned.pod.metadata.namespace === own.pod.metadata.namespace;
    if (assigned.uid === own.uid || isFinished || !isOfSeries) return [];
    const at = Date.parse(rules?.at ?? '') || 0;
    return [{ uid: assigned.uid, at, state: stateOf(worker) }];
  });
}

function stateOf({ assigned, isAdmitted, hasContainers }: PodWorker): SeriesPod['state'] {
  if (assigned.terminal || isStopping(assigned)) return hasContainers ? 'ending' : 'waiting';
  return isAdmitted ? 'running' : 'waiting';
}
