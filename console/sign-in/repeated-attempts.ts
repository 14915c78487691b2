/** Repeats attempts one after another. Attempts in an interval would pile up at a coordinator that does not answer. */

/**
 * Starts `attempt` after `pauseMs`, and again `pauseMs` after each attempt has ended, until the returned function is called.
 * `attempt` must not reject.
 */
export function repeatAttempts(attempt: () => Promise<void>, pauseMs: number): () => void {
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout>;
  const schedule = () => {
    timer = setTimeout(() => {
      void attempt().then(() => {
        if (!isStopped) schedule();
      });
    }, pauseMs);
  };
  schedule();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
