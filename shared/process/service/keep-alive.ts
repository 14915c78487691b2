/** Keeps the process running while it waits for something that does not. */

const INTERVAL_MS = 60_000;

/**
 * Resolves like `work`. Neither timers nor connections to a dead etcd keep the process running, so Node would exit with
 * code 13 and without a sentence while `work` waits.
 */
export async function whileAlive<T>(work: () => Promise<T>): Promise<T> {
  const alive = setInterval(() => undefined, INTERVAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(alive);
  }
}
