/** Repeats an append until it is known whether the log contains the record. */
import { LogFull } from './replicated-log.js';

/**
 * - `notSent`: the engine did not receive the request, or refused it for now.
 * - `unknown`: no answer. The request may have taken effect, or may do so later.
 * - `full`: refused for lack of space.
 */
export type AppendAttempt = 'appended' | 'overtaken' | 'notSent' | 'unknown' | 'full';

/**
 * Calls `attempt` until the outcome is known. Rejects with LogFull only if no earlier attempt can take effect later:
 * the caller would otherwise append another record at the same index, and lose the leadership to its own record.
 * `pause` is called between attempts with the number of failed ones; an error of it ends the append.
 */
export async function appendUntilKnown(
  attempt: () => Promise<AppendAttempt>,
  pause: (failures: number, last: AppendAttempt) => Promise<void>,
): Promise<'appended' | 'overtaken'> {
  let mayTakeEffect = false;
  for (let failures = 1; ; failures += 1) {
    const outcome = await attempt();
    if (outcome === 'appended' || outcome === 'overtaken') return outcome;
    if (outcome === 'full' && !mayTakeEffect) throw new LogFull('the engine has no space for log records');
    mayTakeEffect ||= outcome === 'unknown';
    await pause(failures, outcome);
  }
}
