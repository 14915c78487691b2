/** How often what happened: figures that show whether long runs really tried what the rules are about. */

/** By kind. */
export type Counts = Record<string, number>;

/** The counts of one history. */
export interface EventCounts {
  /** Steps carried out: what people did and what was broken. */
  readonly steps: Counts;
  /** Results of user requests. */
  readonly requests: Counts;
  /** Events that the observer saw. */
  readonly events: Counts;
  /** How often each rule had something to judge. */
  readonly checks: Counts;
}

export const SECTIONS = ['steps', 'requests', 'events', 'checks'] as const satisfies (keyof EventCounts)[];

export function emptyEventCounts(): EventCounts {
  return { steps: {}, requests: {}, events: {}, checks: {} };
}

export function count(counts: Counts, kind: string, by = 1): void {
  counts[kind] = (counts[kind] ?? 0) + by;
}

/** Adds what one history came to. */
export function addTo(sum: EventCounts, more: EventCounts): void {
  for (const section of SECTIONS)
    for (const [kind, by] of Object.entries(more[section])) count(sum[section], kind, by);
}
