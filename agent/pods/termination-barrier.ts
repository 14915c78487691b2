/**
 * Delays the report of a Pod's end until its cause is on disk. The coordinator starts a successor after this report. An
 * agent killed with the deletion only in memory would start the Pod again, next to its successor. A failing disk delays
 * nothing.
 */
import { isPodTerminal } from '../../shared/kube/pods/pod-types.js';
import type { PodReport, RemovedPod } from '../../shared/link/messages/link-messages.js';
import { type AssignedPod, isStopping } from '../decisions/pods/assigned-pod.js';
import type { PodReports } from './pod-worker-deps.js';

interface PersistedPods {
  get(uid: string): AssignedPod | undefined;
  /** Resolves when all changes so far are on disk; rejects if they cannot be written. */
  flush(): Promise<void>;
}

export class TerminationBarrier {
  readonly #persisted: PersistedPods;
  readonly #reports: Pick<PodReports, 'putPod' | 'putRemoved'>;
  /** Final statuses that wait for the disk, by uid. */
  readonly #waiting = new Map<string, PodReport>();
  /** Pods without containers that wait for the disk, by uid. */
  readonly #removed = new Map<string, RemovedPod>();

  constructor(persisted: PersistedPods, reports: Pick<PodReports, 'putPod' | 'putRemoved'>) {
    this.#persisted = persisted;
    this.#reports = reports;
  }

  /** Reports a running Pod at once and drops its delayed reports. */
  putPod(report: PodReport): void {
    const { uid } = report;
    this.#waiting.delete(uid);
    // The Pod was assigned again after its Node returned: an earlier end must not be reported any longer.
    this.#removed.delete(uid);
    if (!isPodTerminal(report)) {
      this.#reports.putPod(report);
      return;
    }
    this.#waiting.set(uid, report);
    this.#oncePersisted(() => {
      if (this.#waiting.get(uid) !== report) return;
      this.#waiting.delete(uid);
      const assigned = this.#persisted.get(uid);
      this.#reports.putPod(report, assigned !== undefined && isStopping(assigned));
    });
  }

  putRemoved(pod: RemovedPod): void {
    this.#removed.set(pod.uid, pod);
    this.#oncePersisted(() => {
      if (this.#removed.get(pod.uid) !== pod) return;
      this.#removed.delete(pod.uid);
      const assigned = this.#persisted.get(pod.uid);
      if (!assigned || isStopping(assigned)) this.#reports.putRemoved(pod);
    });
  }

  #oncePersisted(dispatch: () => void): void {
    this.#persisted.flush().then(dispatch, dispatch);
  }
}
