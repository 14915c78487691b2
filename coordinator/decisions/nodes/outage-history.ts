/**
 * When a host was not Ready in the last week, in little memory. Times are in seconds since the epoch by the
 * coordinator's clock.
 */

export const WEEK_SECONDS = 7 * 86_400;

/** The history of a host that flaps must not grow: 16 outages are at most 400 bytes as text. */
export const MAX_OUTAGES = 16;

/** A time in which the host was not Ready. `down` is less than its length if several outages were merged. */
export interface Outage {
  readonly from: number;
  readonly to: number;
  readonly down: number;
}

/** Returns the history with one more outage, oldest first, without those that ended more than a week before `now`. */
export function withOutage(history: readonly Outage[], outage: Outage, now: number): Outage[] {
  const recent = [...history.filter(({ to }) => to > now - WEEK_SECONDS)];
  if (outage.to > outage.from) recent.push(outage);
  recent.sort((a, b) => a.from - b.from);
  while (recent.length > MAX_OUTAGES) mergeClosest(recent);
  return recent;
}

/** Merges the two outages with the shortest time between them. The time that the host was not Ready stays exact. */
function mergeClosest(history: Outage[]): void {
  let at = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, { from }] of history.entries()) {
    const before = history[index - 1];
    if (!before || from - before.to >= least) continue;
    least = from - before.to;
    at = index - 1;
  }
  const [first, second] = history.slice(at, at + 2);
  if (!first || !second) return;
  const merged = {
    from: first.from,
    to: Math.max(first.to, second.to),
    down: first.down + second.down,
  };
  history.splice(at, 2, merged);
}

/** Returns the history as text: `from+length+down` of each outage in base 36. An empty history is an empty text. */
export function encodeOutages(history: readonly Outage[]): string {
  return history
    .map(({ from, to, down }) => [from, to - from, down].map((part) => part.toString(36)).join('+'))
    .join(' ');
}

/** Reads `encodeOutages`. Leaves out what is not valid: a damaged history must not stop the coordinator. */
export function decodeOutages(text: string): Outage[] {
  return text.split(' ').flatMap((item) => {
    const [from, length, down, ...more] = item.split('+').map((part) => Number.parseInt(part, 36));
    if (from === undefined || length === undefined || down === undefined || more.length > 0) return [];
    const isValid = from >= 0 && length > 0 && down >= 0 && down <= length;
    return isValid ? [{ from, to: from + length, down }] : [];
  });
}

/** What is stored of one host. */
export interface HostRecord {
  /** The past outages by `encodeOutages`. As text, they need the least memory. */
  readonly past: string;
  /** Set while the host is not Ready. */
  readonly downSince?: number;
}

/**
 * Returns the record with outages that end at `now` instead of later; `record` itself if there are none. They were recorded
 * while the clock was ahead. An outage that begins later is kept: the clock may be behind, and is set right soon.
 */
export function recordUntil(record: HostRecord, now: number): HostRecord {
  const outages = decodeOutages(record.past);
  const isCut = ({ from, to }: Outage) => from <= now && to > now;
  if (!outages.some(isCut)) return record;
  const cut = outages.map((one) =>
    isCut(one) ? { from: one.from, to: now, down: Math.min(one.down, now - one.from) } : one,
  );
  return { ...record, past: encodeOutages(cut) };
}

/**
 * Returns the record after the condition Ready was observed; `record` itself if nothing has changed, and undefined if
 * nothing is to be recorded. `status`: undefined for a Node whose host has never reported. `changedAt`: when the status
 * changed, NaN if unknown. It can be from before the coordinator's start.
 */
export function observeReady(
  record: HostRecord | undefined,
  status: string | undefined,
  changedAt: number,
  now: number,
): HostRecord | undefined {
  const at = Math.floor(Math.min(Number.isNaN(changedAt) ? now : changedAt, now));
  const { past = '', downSince } = record ?? {};
  if (status === undefined) return record;
  if (status !== 'True') return downSince === undefined ? { past, downSince: at } : record;
  if (downSince === undefined) return record;
  const to = Math.max(at, downSince);
  const outages = withOutage(decodeOutages(past), { from: downSince, to, down: to - downSince }, now);
  return outages.length > 0 ? { past: encodeOutages(outages) } : undefined;
}
