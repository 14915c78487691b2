/**
 * Ends of Pods on their way to the coordinator, which makes room for a successor when it hears of them: they are told once
 * this host cannot forget why they ended. An agent that is killed with the deletion in memory alone would start the Pod again,
 * beside the one that took its place. A disk that fails keeps nobody waiting.
 */
import { isPodTerminal } from '../../shared/kube/pods/pod-types.js';
import type { PodReport, RemovedPod } from '../../shared/link/messages/link-messages.js';
import type { AssignedPod } from '../decisions/pods/assigned-pod.js';
import type { PodReports } from './pod-worker-deps.js';

/** What the host keeps of its Pods. */
interface PersistedPods {
  get(uid: string): AssignedPod | undefined;
  /** Resolves when everything so far is on disk, rejects when it cannot be written. */
  flush(): Promise<void>;
}

export class TerminationBarrier {
  readonly #kept: PersistedPods;
  readonly #out: () => Pick<PodReports, 'putPod' | 'putRemoved'>;
  /** Statuses of Pods that have ended, by uid, which wait for the disk. */
  readonly #waiting = new Map<string, PodReport>();
  /** Pods whose containers are gone, by uid, which wait for the disk. */
  readonly #removed = new Map<string, RemovedPod>();

  constructor(kept: PersistedPods, out: () => Pick<PodReports, 'putPod' | 'putRemoved'>) {
    this.#kept = kept;
    this.#out = out;
  }

  /** One that is not over is told at once, and whatever waits of its Pod is not told any more. */
  putPod(report: PodReport): void {
    const { uid } = report;
    this.#waiting.delete(uid);
    // Its Node is there again, and it with it: should it be deleted now, it ends another time.
    this.#removed.delete(uid);
    if (!isPodTerminal(report)) {
      this.#out().putPod(report);
      return;
    }
    this.#waiting.set(uid, report);
    this.#onceKept(() => {
      if (this.#waiting.get(uid) !== report) return;
      this.#waiting.delete(uid);
      this.#out().putPod(report);
    });
  }

  putRemoved(pod: RemovedPod): void {
    this.#removed.set(pod.uid, pod);
    this.#onceKept(() => {
      if (this.#removed.get(pod.uid) !== pod) return;
      this.#removed.delete(pod.uid);
      const held = this.#kept.get(pod.uid);
      if (!held || held.deadline !== undefined) this.#out().putRemoved(pod);
    });
  }

  #onceKept(tell: () => void): void {
    this.#kept.flush().then(tell, tell);
  }
}
