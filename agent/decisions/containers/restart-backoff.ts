/** When an ended container may start again (pkg/kubelet/kuberuntime doBackOff, client-go flowcontrol.Backoff). */

const INITIAL_RESTART_BACKOFF_MS = 10_000;
const MAX_RESTART_BACKOFF_MS = 300_000;
/** A container that ran for longer is taken to have recovered: the next restart is at once again. */
const RECOVERED_AFTER_MS = 2 * MAX_RESTART_BACKOFF_MS;

/** An ended attempt, as its container's labels and times tell. Times in ms since the epoch. */
interface EndedAttempt {
  createdAt: number;
  finishedAt: number;
  /** The delay that was set when this attempt was created; 0 for the first. */
  backoffMs: number;
  /** It ended with the host or the engine and not by its own doing. */
  interrupted: boolean;
}

export interface RestartTime {
  /** The earliest time to create the next attempt. */
  at: number;
  /** The delay in force until then; 0 = at once. */
  delayMs: number;
  /** To be kept with the next attempt. */
  nextBackoffMs: number;
}

/**
 * The first restart is at once, then 10 s doubling to 5 min; ten minutes of running forgive everything.
 * Everything it needs lies in the ended container, so it survives a restart of the agent.
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
