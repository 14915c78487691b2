/** A plan's summary sentence and its counts. */

import type { DaemonSetPlan, HostAction, PlannedHost } from '../../../shared/kube/fleet/plan-types.js';
import { HOST_ACTIONS } from '../../../shared/kube/fleet/plan-types.js';
import { countText } from '../../../shared/kube/objects/meta.js';

/** For one host, and for several. */
const VERBS: Readonly<Record<HostAction, [one: string, many: string]>> = {
  start: ['starts', 'start'],
  stop: ['stops', 'stop'],
  replace: ['is replaced', 'are replaced'],
  wait: ['waits', 'wait'],
  keep: ['stays as it is', 'stay as they are'],
  none: ['runs nothing', 'run nothing'],
};

/** Counts hosts by action. Each host counts once. */
export function countActions(hosts: readonly PlannedHost[]): Record<HostAction, number> {
  const counts = Object.fromEntries(HOST_ACTIONS.map((action) => [action, 0])) as Record<HostAction, number>;
  for (const { action } of hosts) counts[action] += 1;
  return counts;
}

/** Counts hosts by reason code, in the order of `codes`. Codes without hosts are omitted. */
export function countReasons(
  hosts: readonly PlannedHost[],
  codes: readonly string[],
): { code: string; count: number }[] {
  const counts = new Map<string, number>(codes.map((code) => [code, 0]));
  for (const { code } of hosts) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 0).map(([code, count]) => ({ code, count }));
}

/** Returns at most two units, rounded up: `45s`, `12m`, `3h5m`, `2d4h`. */
export function spanText(seconds: number): string {
  const whole = Math.ceil(seconds);
  const units = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'm'],
    [1, 's'],
  ] as const;
  const first = units.findIndex(([size]) => whole >= size);
  if (first < 0) return '0s';
  const [size, unit] = units[first] ?? units[3];
  const rest = whole % size;
  const [nextSize, nextUnit] = units[first + 1] ?? [0, ''];
  const next = nextSize > 0 ? Math.floor(rest / nextSize) : 0;
  return `${Math.floor(whole / size)}${unit}${next > 0 ? `${next}${nextUnit}` : ''}`;
}

type Told = Pick<
  DaemonSetPlan,
  'namespace' | 'name' | 'change' | 'policy' | 'counts' | 'waves' | 'endSeconds' | 'blockedBy'
>;

/** Returns `default/till on 50 hosts: 48 are replaced, 2 wait; in 3 waves by policy gentle, done in about 12m.` */
export function planSentence({
  namespace,
  name,
  policy,
  counts,
  waves,
  endSeconds,
  blockedBy,
}: Told): string {
  const total = HOST_ACTIONS.reduce((sum, action) => sum + counts[action], 0);
  const parts = HOST_ACTIONS.filter((action) => counts[action] > 0);
  const what = parts.map((action) => countText(counts[action], ...VERBS[action])).join(', ');
  const changing = waves.filter(({ changes }) => changes > 0).length;
  const how =
    policy && changing > 0 && counts.replace > 0
      ? `; in ${countText(changing, 'wave')} by policy ${policy}`
      : '';
  const when = endSeconds === undefined ? '' : `${how ? ',' : ';'} done in about ${spanText(endSeconds)}`;
  const but = blockedBy === undefined ? '' : `. It would not complete: ${blockedBy}`;
  return `${namespace}/${name} on ${countText(total, 'host')}: ${what || 'nothing'}${how}${when}${but}.`;
}
