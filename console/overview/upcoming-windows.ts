/** The next maintenance windows, by the sites that they are for. Pure. */
import type { CalendarZone, ChangeCalendar } from '../../shared/kube/fleet/change-calendar-types.js';
import type { Host } from '../../shared/kube/fleet/host-types.js';
import { ownValue } from '../../shared/kube/objects/label-syntax.js';
import { countText } from '../../shared/kube/objects/meta.js';
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';

export interface UpcomingWindow {
  /** `namespace/name` of the policy. */
  policy: string;
  /** Time zones of the hosts. Empty if the policy names none. */
  zones: readonly string[];
  /** Sites with hosts in these zones. Empty if it is not known, or all. */
  sites: readonly string[];
  hosts: number;
  /** `never`: no window opens within the calendar. */
  state: 'open' | 'opens' | 'never';
  /** When the window opens, or closes if it is open. Absent for `never`. */
  at?: string;
}

/** Returns true if the policy restricts the time of changes. */
export function hasSchedule({ spec }: RolloutPolicy): boolean {
  return (spec.windows?.length ?? 0) > 0 || (spec.freezes?.length ?? 0) > 0;
}

/** Returns the labels with time zones that the windows of the policies name. */
export function timeZoneLabels(policies: readonly RolloutPolicy[]): string[] {
  const all = policies.flatMap(({ spec }) => [...(spec.windows ?? []), ...(spec.freezes ?? [])]);
  return [...new Set(all.flatMap(({ timeZoneLabel }) => timeZoneLabel ?? []))].sort();
}

/** Returns the sites of each time zone. `zoneLabels` contain zones with dots, such as `Europe.Berlin`. */
export function sitesByZone(
  hosts: readonly Host[],
  siteLabel: string | undefined,
  zoneLabels: readonly string[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  if (siteLabel === undefined) return found;
  for (const { metadata } of hosts) {
    const site = ownValue(metadata.labels, siteLabel);
    if (site === undefined) continue;
    for (const label of zoneLabels) {
      const zone = ownValue(metadata.labels, label)?.replaceAll('.', '/');
      if (zone === undefined) continue;
      const sites = found.get(zone) ?? new Set<string>();
      found.set(zone, sites.add(site));
    }
  }
  return found;
}

/** Returns windows, the open ones and then the next ones first. Calendars without hosts have none. */
export function upcomingWindows(
  calendars: readonly ChangeCalendar[],
  sites: ReadonlyMap<string, ReadonlySet<string>>,
  now: number,
): UpcomingWindow[] {
  return calendars
    .flatMap(({ policy, zones, held }) =>
      zones
        .filter(({ hosts }) => hosts > 0)
        .map((zone) => ({
          ...{ policy: `${policy.namespace}/${policy.name}`, zones: zone.zones, hosts: zone.hosts },
          sites: [...new Set(zone.zones.flatMap((name) => [...(sites.get(name) ?? [])]))].sort(),
          ...(held ? { state: 'never' as const } : nextOpening(zone, now)),
        })),
    )
    .sort((a, b) => rank(a) - rank(b) || (a.at ?? '').localeCompare(b.at ?? ''));
}

/** Returns which windows a list leaves out, or ''. A window of a policy that is not loaded may be the next one. */
export function omittedText(windows: number, policies: number): string {
  const parts = [
    windows > 0 ? countText(windows, 'more window') : '',
    policies > 0 ? `the windows of ${countText(policies, 'more policy', 'more policies')}` : '',
  ].filter(Boolean);
  return parts.length > 0 ? `Not shown: ${parts.join(' and ')}.` : '';
}

function nextOpening({ spans }: CalendarZone, now: number): Pick<UpcomingWindow, 'state' | 'at'> {
  const open = spans.find(({ may, to }) => may === 'replace' && Date.parse(to) > now);
  if (!open) return { state: 'never' };
  return Date.parse(open.from) <= now ? { state: 'open', at: open.to } : { state: 'opens', at: open.from };
}

function rank({ state }: UpcomingWindow): number {
  return ['open', 'opens', 'never'].indexOf(state);
}
