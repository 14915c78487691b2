/** Parses an update lock: the text of its lock file, or the answer on its socket. */
import type { ActiveUpdateLock } from './handover-step.js';

const UNTIL = /^until:\s*(\S+)$/i;
/** Limits the reason: a lock file may contain any text. */
const MAX_REASON = 200;
const NO_REASON = 'locked on the host';
/** Answers that release the lock. */
const RELEASED = /^(ok|go)?$/i;

/** An existing lock file holds the lock. Its first line is the reason; a line `until: RFC3339` is the end. */
export function updateLockInFile(text: string, now: number): ActiveUpdateLock | undefined {
  return parseLock(text, now, NO_REASON);
}

/** An empty answer, `ok` or `go` releases the lock; any other answer is the reason. */
export function updateLockInAnswer(text: string, now: number): ActiveUpdateLock | undefined {
  return RELEASED.test(text.trim()) ? undefined : parseLock(text, now, NO_REASON);
}

/** Returns undefined after `until`; an invalid `until` is ignored. */
function parseLock(text: string, now: number, otherwise: string): ActiveUpdateLock | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const until = lines
    .map((line) => Date.parse(UNTIL.exec(line)?.[1] ?? ''))
    .find((time) => !Number.isNaN(time));
  if (until !== undefined && until <= now) return undefined;
  const reason = lines.find((line) => line !== '' && !UNTIL.test(line)) ?? otherwise;
  return { reason: reason.slice(0, MAX_REASON), ...(until !== undefined && { until }) };
}
