/** Waits without a clock. */
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after `ms`. Keeps the process alive, unlike the timers of a `Clock`. */
export function pause(ms: number): Promise<void> {
  return delay(ms);
}
