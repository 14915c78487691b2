/** Time ranges of the activity page. Pure. */

export const ACTIVITY_RANGES = ['hour', 'today', 'yesterday', 'week', 'all'] as const;

export type ActivityRange = (typeof ACTIVITY_RANGES)[number];

export const RANGE_NAMES: Readonly<Record<ActivityRange, string>> = {
  hour: 'Last hour',
  today: 'Today',
  yesterday: 'Yesterday',
  week: 'Last 7 days',
  all: 'All',
};

const HOUR_MS = 3_600_000;

/** Returns the query parameters `since` and `until`. Days are those of the browser's time zone. */
export function rangeQuery(range: ActivityRange, now: Date): Record<string, string> {
  const day = (offset: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + offset).toISOString();
  switch (range) {
    case 'hour':
      return { since: new Date(now.getTime() - HOUR_MS).toISOString() };
    case 'today':
      return { since: day(0) };
    case 'yesterday':
      return { since: day(-1), until: day(0) };
    case 'week':
      return { since: day(-7) };
    case 'all':
      return {};
  }
}
