/**
 * Maintenance schedules: when the Pods of a node may be replaced, by the windows and freeze periods of a policy in the
 * node's time zone. Nodes of one zone share one schedule. Pure; times are milliseconds since the epoch.
 */

import { ownValue } from '../kube/objects/label-syntax.js';
import { toTimestamp } from '../kube/objects/meta.js';
import { compileLabelSelector, type Labels } from '../kube/objects/selectors.js';
import type {
  FreezePeriod,
  MaintenanceWindow,
  RolloutPolicySpec,
} from '../kube/rollouts/rollout-policy-types.js';
import { lastMatch, nextMatch } from './cron-matches.js';
import { type CronPattern, parseCron } from './cron-pattern.js';
import { instantOfDateInput, parseDateInput } from './date-text.js';
import { type TimeZone, timeZone, timeZoneOfLabel } from './time-zone.js';

/** The parts of a policy that depend on time. */
export type MaintenanceScheduleSpec = Pick<RolloutPolicySpec, 'windows' | 'freezes'>;

/** The changes that are allowed on a node at one time. */
export interface MaintenanceState {
  /** True if a Pod may be replaced. */
  replace: boolean;
  /** True if a Pod may be created where none exists. */
  create: boolean;
  /** The next time at which this state may change. Absent if no change is foreseeable. */
  until?: number;
  /** The reason why replacement is not allowed, as a sentence. Empty if it is allowed. */
  why: string;
  /** True if a freeze period is active. Absent if only the maintenance window is closed. */
  frozen?: true;
}

/** The schedule of all nodes with the same time zones. `key` identifies these zones. */
export interface MaintenanceSchedule {
  key: string;
  at(now: number): MaintenanceState;
}

/** The schedule without any restriction. */
const UNRESTRICTED: MaintenanceSchedule = { key: '', at: () => ({ replace: true, create: true, why: '' }) };

interface LocalWindow {
  pattern: CronPattern;
  durationMs: number;
  zone: TimeZone;
}

interface LocalFreeze {
  from: number;
  to: number;
  everything: boolean;
  reason: string;
}

const UTC = 'UTC';

/** Returns the time zone of a window on this node, or undefined if the window does not apply to the node. */
function zoneOf({ timeZone: name, timeZoneLabel }: MaintenanceWindow, labels: Labels): TimeZone | undefined {
  const own = timeZoneLabel === undefined ? undefined : ownValue(labels, timeZoneLabel);
  if (own !== undefined) return timeZoneOfLabel(own);
  return timeZoneLabel !== undefined && name === undefined ? undefined : timeZone(name ?? UTC);
}

/** Returns the time zone of a freeze period. An unknown zone is UTC; a typo must not disable the freeze. */
function freezeZoneOf({ timeZone: name = UTC, timeZoneLabel }: FreezePeriod, labels: Labels): TimeZone {
  const own = timeZoneLabel === undefined ? undefined : timeZoneOfLabel(ownValue(labels, timeZoneLabel));
  const zone = own ?? timeZone(name) ?? timeZone(UTC);
  if (!zone) throw new Error('there is no time zone UTC');
  return zone;
}

/** Returns a function from a node's labels to its schedule. Throws an Error for an invalid policy. */
export function compileMaintenanceSchedules({
  windows = [],
  freezes = [],
}: MaintenanceScheduleSpec): (labels: Labels | undefined) => MaintenanceSchedule {
  if (windows.length === 0 && freezes.length === 0) return () => UNRESTRICTED;
  const compiled = windows.map((window) => ({
    window,
    pattern: parseCron(window.schedule),
    selector: compileLabelSelector(window.nodeSelector ?? {}),
  }));
  const schedules = new Map<string, MaintenanceSchedule>();
  return (labels = {}) => {
    const zones = compiled.map(({ window, selector }) =>
      selector.matches(labels) ? zoneOf(window, labels) : undefined,
    );
    const freezeZones = freezes.map((freeze) => freezeZoneOf(freeze, labels));
    const key = [...zones, ...freezeZones].map((zone) => zone?.name ?? '-').join();
    const present = schedules.get(key);
    if (present) return present;
    const schedule = createSchedule(
      key,
      windows.length > 0,
      compiled.flatMap(({ window, pattern }, index) => {
        const zone = zones[index];
        return zone ? [{ pattern, durationMs: window.durationSeconds * 1000, zone }] : [];
      }),
      freezes.map((freeze, index) => localFreeze(freeze, freezeZones[index])),
    );
    schedules.set(key, schedule);
    return schedule;
  };
}

function localFreeze(
  { from, to, scope, reason = '' }: FreezePeriod,
  zone: TimeZone | undefined,
): LocalFreeze {
  const [start, end] = [from, to].map((text) => {
    const moment = parseDateInput(text);
    return zone && moment ? instantOfDateInput(zone, moment) : Number.NaN;
  });
  return {
    from: start ?? Number.NaN,
    to: end ?? Number.NaN,
    everything: scope === 'Everything',
    reason,
  };
}

function createSchedule(
  key: string,
  hasWindows: boolean,
  windows: readonly LocalWindow[],
  freezes: readonly LocalFreeze[],
): MaintenanceSchedule {
  let last: { from: number; hours: MaintenanceState } | undefined;
  const at = (now: number): MaintenanceState => {
    const { from = 0, hours } = last ?? {};
    if (hours && now >= from && now < (hours.until ?? Number.POSITIVE_INFINITY)) return hours;
    const found = stateAt(now, hasWindows, windows, freezes);
    last = { from: now, hours: found };
    return found;
  };
  return { key, at };
}

function stateAt(
  now: number,
  hasWindows: boolean,
  windows: readonly LocalWindow[],
  freezes: readonly LocalFreeze[],
): MaintenanceState {
  const frozen = freezes.filter(({ from, to }) => now >= from && now < to);
  const changes = freezes.flatMap(({ from, to }) => [from, to]).filter((at) => at > now);
  const ends = windows.flatMap(({ pattern, zone, durationMs }) => {
    const opened = lastMatch(pattern, zone, now, durationMs);
    return opened !== undefined && opened + durationMs > now ? [opened + durationMs] : [];
  });
  const isOpen = !hasWindows || ends.length > 0;
  const openings = isOpen ? [] : windows.flatMap(({ pattern, zone }) => nextMatch(pattern, zone, now) ?? []);
  changes.push(...openings);
  if (ends.length > 0) changes.push(Math.max(...ends));
  const until = changes.length > 0 ? Math.min(...changes) : undefined;
  return {
    replace: isOpen && frozen.length === 0,
    create: !frozen.some(({ everything }) => everything),
    ...(until === undefined ? {} : { until }),
    why: reasonOf(frozen, isOpen, openings),
    ...(frozen.length > 0 ? { frozen: true } : {}),
  };
}

function reasonOf(frozen: readonly LocalFreeze[], isOpen: boolean, openings: readonly number[]): string {
  const [freeze] = frozen;
  if (freeze) {
    const reason = freeze.reason ? ` (${freeze.reason})` : '';
    return `a freeze period lasts until ${toTimestamp(freeze.to)}${reason}`;
  }
  if (isOpen) return '';
  if (openings.length === 0) return 'no maintenance window of the policy ever opens for it';
  return `its maintenance window opens at ${toTimestamp(Math.min(...openings))}`;
}

/** Returns the first time from `now` on at which a Pod may be replaced, or undefined if none is foreseeable. */
export function nextReplacementTime(
  { at }: Pick<MaintenanceSchedule, 'at'>,
  now: number,
): number | undefined {
  let time = now;
  // Each iteration is one state change. A year of nightly windows under one freeze has 730.
  for (let change = 0; change < 1_000; change += 1) {
    const { replace, until } = at(time);
    if (replace) return time;
    if (until === undefined) return undefined;
    time = until;
  }
  return undefined;
}
