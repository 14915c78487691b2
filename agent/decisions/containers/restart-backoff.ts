/** Restart delays of exited containers (pkg/kubelet/kuberuntime doBackOff, client-go flowcontrol.Backoff). */

const INITIAL_RESTART_BACKOFF_MS = 10_000;
const MAX_RESTART_BACKOFF_MS = 300_000;
/** A container that ran longer than this has recovered: its next restart is immediate. */
const RECOVERED_AFTER_MS = 2 * MAX_RESTART_BACKOFF_MS;

/** An exited attempt, from its labels and times. Times in ms since the epoch. */
interface EndedAttempt {
  createdAt: number;
  finishedAt: number;
  /** Delay set when this attempt was created; 0 for the first. */
  backoffMs: number;
  /** True if it ended because of the host or the engine. */
  interrupted: boolean;
}

export interface RestartTime {
  /** Earliest time to create the next attempt. */
  at: number;
  /** Delay in force until then; 0: none. */
  delayMs: number;
  /** To be stored with the next attempt. */
  nextBackoffMs: number;
}

/**
 * Returns the restart time. The first restart is immediate, the next ones follow after 10 s doubling to 5 min. Ten
 * minutes of running reset the delay. All inputs are stored with the exited container, so the delay survives a restart
 * of the agent.
 */
export function restartBackoff(ended: EndedAttempt): RestartTime {
  const recovered = ended.finishedAt - ended.createdAt > RECOVERED_AFTER_MS;
  if (ended.interrupted || recovered || ended.backoffMs <= 0) {
    return { at: ended.finishedAt, delayMs: 0, nextBackoffMs: INITIAL_RESTART_BACKOFF_MS };
  }
  return {
    at: ended.finishedAt + ended.backoffMs,
    delayMs: ended.backoffMs,
    nextBackoffMs: Math.min(ended.backoffMs * 2, MAX_RESTART_BACKOFF_MS),
  };
}
