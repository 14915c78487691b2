/**
 * When the Pods of a node may be replaced: the windows and freeze periods of a policy, on the node's own clocks. Nodes of
 * one zone share one answer. Pure; times are ms since the epoch.
 */
import { toTimestamp } from '../kube/objects/meta.js';
import { ownValue } from '../kube/objects/own-value.js';
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

/** What a policy says of times. */
export type MaintenanceScheduleSpec = Pick<RolloutPolicySpec, 'windows' | 'freezes'>;

/** What a node may have done to it at one time. */
export interface MaintenanceState {
  /** A Pod may be replaced. */
  replace: boolean;
  /** A Pod may be made where there is none. */
  create: boolean;
  /** When this may change; absent: never, as far as can be seen. */
  until?: number;
  /** What forbids it, in words; "" when nothing does. */
  why: string;
  /** A freeze period forbids it, not merely a window that is closed. */
  frozen?: true;
}

/** The hours of all nodes with the same zones, which `key` stands for. */
export interface MaintenanceSchedule {
  key: string;
  at(now: number): MaintenanceState;
}

/** Nothing restricts any node. */
const ALL_HOURS: MaintenanceSchedule = { key: '', at: () => ({ replace: true, create: true, why: '' }) };

interface OwnWindow {
  pattern: CronPattern;
  durationMs: number;
  zone: TimeZone;
}

interface OwnFreeze {
  from: number;
  to: number;
  everything: boolean;
  reason: string;
}

const UTC = 'UTC';

/** The zone of a window for a node; undefined: the node has no such window. */
function zoneOf({ timeZone: name, timeZoneLabel }: MaintenanceWindow, labels: Labels): TimeZone | undefined {
  const own = timeZoneLabel === undefined ? undefined : ownValue(labels, timeZoneLabel);
  if (own !== undefined) return timeZoneOfLabel(own);
  return timeZoneLabel !== undefined && name === undefined ? undefined : timeZone(name ?? UTC);
}

/** The zone of a freeze period for a node: an unknown one must not thaw it, so UTC stands in. */
function freezeZoneOf({ timeZone: name = UTC, timeZoneLabel }: FreezePeriod, labels: Labels): TimeZone {
  const own = timeZoneLabel === undefined ? undefined : timeZoneOfLabel(ownValue(labels, timeZoneLabel));
  const zone = own ?? timeZone(name) ?? timeZone(UTC);
  if (!zone) throw new Error('there is no time zone UTC');
  return zone;
}

/** Tells the hours' class of a node by its labels. Throws an Error for what validation would have refused. */
export function compileMaintenanceSchedules({
  windows = [],
  freezes = [],
}: MaintenanceScheduleSpec): (labels: Labels | undefined) => MaintenanceSchedule {
  if (windows.length === 0 && freezes.length === 0) return () => ALL_HOURS;
  const compiled = windows.map((window) => ({
    window,
    pattern: parseCron(window.schedule),
    selector: compileLabelSelector(window.nodeSelector ?? {}),
  }));
  const classes = new Map<string, MaintenanceSchedule>();
  return (labels = {}) => {
    const zones = compiled.map(({ window, selector }) =>
      selector.matches(labels) ? zoneOf(window, labels) : undefined,
    );
    const frozenBy = freezes.map((freeze) => freezeZoneOf(freeze, labels));
    const key = [...zones, ...frozenBy].map((zone) => zone?.name ?? '-').join();
    const present = classes.get(key);
    if (present) return present;
    const made = makeClass(
      key,
      windows.length > 0,
      compiled.flatMap(({ window, pattern }, index) => {
        const zone = zones[index];
        return zone ? [{ pattern, durationMs: window.durationSeconds * 1000, zone }] : [];
      }),
      freezes.map((freeze, index) => ownFreeze(freeze, frozenBy[index])),
    );
    classes.set(key, made);
    return made;
  };
}

function ownFreeze({ from, to, scope, reason = '' }: FreezePeriod, zone: TimeZone | undefined): OwnFreeze {
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

function makeClass(
  key: string,
  hasWindows: boolean,
  windows: readonly OwnWindow[],
  freezes: readonly OwnFreeze[],
): MaintenanceSchedule {
  let last: { from: number; hours: MaintenanceState } | undefined;
  const at = (now: number): MaintenanceState => {
    const { from = 0, hours } = last ?? {};
    if (hours && now >= from && now < (hours.until ?? Number.POSITIVE_INFINITY)) return hours;
    const found = hoursOf(now, hasWindows, windows, freezes);
    last = { from: now, hours: found };
    return found;
  };
  return { key, at };
}

function hoursOf(
  now: number,
  hasWindows: boolean,
  windows: readonly OwnWindow[],
  freezes: readonly OwnFreeze[],
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
    why: whyNot(frozen, isOpen, openings),
    ...(frozen.length > 0 ? { frozen: true } : {}),
  };
}

function whyNot(frozen: readonly OwnFreeze[], isOpen: boolean, openings: readonly number[]): string {
  const [freeze] = frozen;
  if (freeze) {
    const reason = freeze.reason ? ` (${freeze.reason})` : '';
    return `a freeze period lasts until ${toTimestamp(freeze.to)}${reason}`;
  }
  if (isOpen) return '';
  if (openings.length === 0) return 'no maintenance window is ever open for it';
  return `its maintenance window opens at ${toTimestamp(Math.min(...openings))}`;
}

/** When a Pod may next be replaced, `now` included; undefined: not within what can be seen. */
export function nextReplacementTime(
  { at }: Pick<MaintenanceSchedule, 'at'>,
  now: number,
): number | undefined {
  let time = now;
  // Each turn is one change; a year of nightly windows that a freeze covers has 730.
  for (let turn = 0; turn < 1_000; turn += 1) {
    const { replace, until } = at(time);
    if (replace) return time;
    if (until === undefined) return undefined;
    time = until;
  }
  return undefined;
}
