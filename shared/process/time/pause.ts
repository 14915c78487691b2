/** Waiting that is all a program does at the moment. */
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after `ms`. Unlike a `Clock`'s timers it keeps the process alive. */
export function pause(ms: number): Promise<void> {
  return delay(ms);
}
