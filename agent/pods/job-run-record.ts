/**
 * The record that a Pod of a DaemonJob has run on this host, from its first container to the coordinator's confirmation.
 * Without it the Pod would run again after the engine or the desired state lost it. Pods of no job have no record.
 */
import { countedPhaseOf } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { type AssignedPod, isUnassigned } from '../decisions/pods/assigned-pod.js';
import { isJobPod } from '../decisions/pods/lost-job-run.js';
import type { JobRunState, PodView } from '../decisions/pods/pod-view.js';
import { SANDBOX } from '../runtime/runtime-driver.js';
import type { PodWorkerDeps } from './pod-worker-deps.js';

export class JobRunRecord {
  readonly #runs: PodWorkerDeps['jobRuns'];

  constructor(runs: PodWorkerDeps['jobRuns']) {
    this.#runs = runs;
  }

  /** Returns what this host did for the Pod. Undefined: it has not run, or belongs to no job. */
  stateOf({ uid, pod }: AssignedPod): JobRunState | undefined {
    return isJobPod(pod) ? this.#runs.get(uid) : undefined;
  }

  /** Resolves when the record survives a power cut. Call it before a container is started. */
  async beforeStart({ uid, pod }: Pick<AssignedPod, 'uid' | 'pod'>, container: string): Promise<void> {
    if (container === SANDBOX || !isJobPod(pod) || this.#runs.get(uid)) return;
    await this.#runs.set(uid, 'started');
  }

  /** A Pod that an older agent started has no record. It would run again if it lost its containers. */
  onInspected({ uid, pod }: AssignedPod, { containers, jobRun }: PodView): void {
    if (jobRun || !isJobPod(pod)) return;
    const hasRun = containers.some(({ identity, state, startedAt }) => {
      const isStarted = state === 'running' || (state === 'exited' && startedAt !== undefined);
      return identity.container !== SANDBOX && isStarted;
    });
    if (hasRun) void this.#runs.set(uid, 'started');
  }

  /** Call it when the Pod's final phase was reported. */
  onFinalPhase({ uid, pod }: AssignedPod, phase: 'Succeeded' | 'Failed'): void {
    if (isJobPod(pod) && this.#runs.get(uid) === 'started') void this.#runs.set(uid, phase);
  }

  /** Call it when nothing of the Pod is left on this host. */
  onRemoved(assigned: AssignedPod): void {
    if (isUnassigned(assigned) && !mayReturn(assigned.pod)) this.#runs.forget(assigned.uid);
  }
}

/**
 * Returns the records with a `forget` that waits until the desired state is on disk, where the Pod is unassigned. An agent
 * that is killed with that only in memory still has an assigned Pod: without its containers and its record it would run
 * again. If the write fails, the record stays.
 */
export function forgettingOncePersisted(
  runs: PodWorkerDeps['jobRuns'],
  persisted: { flush(): Promise<void> },
): PodWorkerDeps['jobRuns'] {
  return {
    get: (podUid) => runs.get(podUid),
    set: (podUid, state) => runs.set(podUid, state),
    forget: (podUid) => {
      persisted.flush().then(
        () => runs.forget(podUid),
        () => undefined,
      );
    },
  };
}

/**
 * Returns true if the coordinator may assign the Pod again and its host would have to start it: its Node was deleted. The
 * uid of a deleted Pod is never used again.
 */
function mayReturn(pod: Pod): boolean {
  return countedPhaseOf(pod) === undefined && pod.metadata.deletionTimestamp === undefined;
}
