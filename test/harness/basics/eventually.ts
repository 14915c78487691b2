/** Waits for conditions instead of sleeping for luck. */
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 2;

/** Resolves once `holds` answers true; anything else it answers is the complaint when `withinMs` are over. */
export async function eventually(holds: () => true | unknown, withinMs = 30_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (let answer = holds(); answer !== true; answer = holds()) {
    if (performance.now() > deadline) throw new Error(`still not after ${withinMs} ms: ${String(answer)}`);
    await delay(POLL_MS);
  }
}
