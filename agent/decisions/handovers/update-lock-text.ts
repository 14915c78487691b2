/** What a host's 'not now' says: the text of its lock file, or the answer of whoever listens on its socket. */
import type { ActiveUpdateLock } from './handover-step.js';

const UNTIL = /^until:\s*(\S+)$/i;
/** Anything may stand in a lock file. */
const MAX_REASON = 200;
const NO_REASON = 'held on the host';
/** Answers that hold nothing up. */
const GO = /^(ok|go)?$/i;

/** A lock file holds by being there: its first line is the reason, a line `until: RFC3339` its end. */
export function updateLockInFile(text: string, now: number): ActiveUpdateLock | undefined {
  return holdIn(text, now, NO_REASON);
}

/** An empty answer, `ok` or `go` holds nothing; any other is the reason. */
export function updateLockInAnswer(text: string, now: number): ActiveUpdateLock | undefined {
  return GO.test(text.trim()) ? undefined : holdIn(text, now, NO_REASON);
}

/** Undefined once its `until` is over; an `until` that is no time counts as none. */
function holdIn(text: string, now: number, otherwise: string): ActiveUpdateLock | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const until = lines
    .map((line) => Date.parse(UNTIL.exec(line)?.[1] ?? ''))
    .find((time) => !Number.isNaN(time));
  if (until !== undefined && until <= now) return undefined;
  const reason = lines.find((line) => line !== '' && !UNTIL.test(line)) ?? otherwise;
  return { reason: reason.slice(0, MAX_REASON), ...(until !== undefined && { until }) };
}
