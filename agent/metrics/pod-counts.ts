/** Counts running Pods and containers, from the latest status reports. */
import type { PodReport } from '../../shared/link/messages/link-messages.js';

/** The kubelet's names of container states (`kubelet_running_containers`). */
export type CountedState = 'created' | 'running' | 'exited';

export class PodCounts {
  readonly #byUid = new Map<string, PodReport['status']>();

  recordReport({ uid, status }: PodReport): void {
    this.#byUid.set(uid, status);
  }

  forget(uid: string): void {
    this.#byUid.delete(uid);
  }

  /** Returns the last reported status. Undefined before the first report. */
  statusOf(uid: string): PodReport['status'] | undefined {
    return this.#byUid.get(uid);
  }

  get runningPods(): number {
    return [...this.#byUid.values()].filter(({ phase }) => phase === 'Running').length;
  }

  containers(): Record<CountedState, number> {
    const counts = { created: 0, running: 0, exited: 0 };
    for (const each of this.#byUid.values()) {
      const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = each;
      for (const { state } of [
        ...initContainerStatuses,
        ...containerStatuses,
        ...ephemeralContainerStatuses,
      ]) {
        counts[state?.running ? 'running' : state?.terminated ? 'exited' : 'created'] += 1;
      }
    }
    return counts;
  }
}
