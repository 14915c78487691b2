/** When each host of a DaemonJob starts its Pod, and the rules that its Pod carries to the host. */
import { instantOfDateInput, parseDateInput } from '../../../shared/calendar/date-text.js';
import {
  compileMaintenanceSchedules,
  type MaintenanceSchedule,
  type MaintenanceScheduleSpec,
} from '../../../shared/calendar/maintenance-schedule.js';
import { timeZone, timeZoneOfLabel } from '../../../shared/calendar/time-zone.js';
import {
  lockOverrideOf,
  type RunSeries,
  SERIES_ANNOTATION,
  STOP_CONFIRMED_CONDITION,
  type StartRules,
  startRulesOf,
  TIME_ZONE_LABEL,
  UPDATE_LOCKED,
  WAITS_FOR_START,
} from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import { type DaemonJob, runOf } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { HandoverWindow } from '../../../shared/kube/handovers/host-handover.js';
import { type Condition, findCondition, isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import { ALL_TARGETS } from '../../../shared/kube/rollouts/steering-requests.js';
import { handoverWindows, lockTerms } from '../handovers/handover-terms.js';

/** When a host may start. Times in ms since the epoch. */
export interface HostStart {
  /** Absent: as soon as the Pod is there. */
  at?: number;
  /** Later the host has missed the job. Absent: no limit. */
  before?: number;
  /** Part of the Pod. */
  rules: StartRules;
}

/** `skipped`: the host's clocks are put forward over the start, and the next run starts at the same moment. */
type StartOfHost = HostStart | 'skipped' | undefined;

/**
 * What the CronDaemonJob of a run says about it. `next`: start of the next run, like `startAt`. `generation`: of the
 * CronDaemonJob.
 */
export interface SeriesOfJob extends RunSeries {
  generation?: number;
  next?: string;
}

/** Returns the series of a run, or undefined for a DaemonJob that no CronDaemonJob created. */
export function seriesOf({ metadata }: Pick<DaemonJob, 'metadata'>): SeriesOfJob | undefined {
  const text = metadata.annotations?.[SERIES_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const series = JSON.parse(text) as Partial<SeriesOfJob> | null;
    if (typeof series?.uid !== 'string' || series.concurrency === undefined) return undefined;
    const { next, ...others } = series;
    // A run that ends at an invalid time would stop the reconciles of all hosts.
    const isTime = typeof next === 'string' && parseDateInput(next) !== undefined;
    return { ...others, uid: series.uid, concurrency: series.concurrency, ...(isTime && { next }) };
  } catch {
    // Ignore a value that another client wrote.
    return undefined;
  }
}

/** Returns the instant of a start time on a host, in ms since the epoch. A host without a known time zone is in UTC. */
export function instantOnHost(text: string, labels: Labels | undefined): number {
  const input = parseDateInput(text);
  const zone = timeZoneOfLabel(labels?.[TIME_ZONE_LABEL]) ?? timeZone('UTC');
  return zone && input ? instantOfDateInput(zone, input) : Number.NaN;
}

/** Returns the start time of the current run. An operator asks for a rerun now: it has none, and no deadline. */
export function startAtOf(job: Pick<DaemonJob, 'spec'>): string | undefined {
  return runOf(job) > 1 ? undefined : job.spec.startAt;
}

/** Formatting another number as a time would throw, and stop the reconciles of all hosts of the job. */
function isDate(ms: number): boolean {
  return !Number.isNaN(new Date(ms).getTime());
}

/** Returns the start of a job on a host by its own `startAt`, without windows. */
export function hostStart(job: DaemonJob, labels: Labels | undefined): StartOfHost {
  const { startAt, startingDeadlineSeconds: deadline } = job.spec;
  if (startAt === undefined) return undefined;
  const at = instantOnHost(startAt, labels);
  // No host starts at a time that nobody can read. Validation refuses it, but an older coordinator may have stored it.
  if (!isDate(at)) return 'skipped';
  const series = seriesOf(job);
  // A deadline that no date can express is none.
  const ends = [
    ...(series?.next === undefined ? [] : [instantOnHost(series.next, labels)]),
    ...(deadline === undefined ? [] : [at + deadline * 1000]),
  ].filter(isDate);
  const before = ends.length > 0 ? Math.min(...ends) : undefined;
  if (series?.next !== undefined && instantOnHost(series.next, labels) <= at) return 'skipped';
  if (startAtOf(job) === undefined) return { rules: rulesOfRerun(series) };
  const rules: StartRules = {
    at: toTimestamp(at),
    ...(before !== undefined && { before: toTimestamp(before) }),
    ...(series && { series: { uid: series.uid, concurrency: series.concurrency } }),
  };
  return { at, ...(before !== undefined && { before }), rules };
}

/**
 * A rerun that starts after the deadline of its first run would be missed at once, and its results would replace those
 * of the failures. It ends no other run: it waits, also with `Replace`.
 */
function rulesOfRerun(series: SeriesOfJob | undefined): StartRules {
  if (!series) return {};
  const { uid, concurrency } = series;
  return { series: { uid, concurrency: concurrency === 'Replace' ? 'Forbid' : concurrency } };
}

/** Windows of the hosts of one schedule are recomputed after this time, or when the first one is over. */
const WINDOWS_MS = 3_600_000;

/** Returns a function from a node's labels to its windows. Windows are computed once for the hosts of one schedule. */
export function compileWindows(times: MaintenanceScheduleSpec): WindowsOf {
  const classify = compileMaintenanceSchedules(times);
  const known = new Map<
    MaintenanceSchedule,
    { from: number; until: number; windows: HandoverWindow[] | undefined }
  >();
  return (labels, now) => {
    const schedule = classify(labels);
    const before = known.get(schedule);
    if (before && before.from <= now && now < before.until) return before.windows;
    const windows = handoverWindows(schedule, now);
    const until = Math.min(
      now + WINDOWS_MS,
      Date.parse(windows?.[0]?.until ?? '') || Number.POSITIVE_INFINITY,
    );
    known.set(schedule, { from: now, until, windows });
    return windows;
  };
}

/** Undefined: the host may start at any time. Empty: no window opens within the horizon. */
export type WindowsOf = (labels: Labels | undefined, now: number) => HandoverWindow[] | undefined;

/**
 * Adds the windows of the host, so that it starts in one of them also while it is offline. Returns undefined if there are
 * none: the host must wait for the coordinator.
 */
export function withWindows(
  start: HostStart | undefined,
  windows: HandoverWindow[] | undefined,
): HostStart | undefined {
  if (windows === undefined) return start ?? { rules: {} };
  if (windows.length === 0) return undefined;
  return { ...start, rules: { ...start?.rules, windows } };
}

/**
 * Returns a function from a host to the user and the reason by which its update locks are overridden. The list of hosts
 * is parsed once, because it can name the whole fleet.
 */
export function compileLockOverride(job: DaemonJob): (nodeName: string) => string | undefined {
  const { hosts, by } = lockOverrideOf(job);
  const listed = new Set(hosts);
  return (nodeName) => (listed.has(nodeName) || listed.has(ALL_TARGETS) ? by : undefined);
}

/** Adds how long an update lock of the host may delay the start, and who overrides the lock. */
export function withUpdateLock(
  start: HostStart | undefined,
  policy: RolloutPolicySpec | undefined,
  forcedBy: string | undefined,
): HostStart | undefined {
  if (!policy?.updateLock) return start;
  const terms = lockTerms(policy, forcedBy);
  return { ...start, rules: { ...start?.rules, ...terms } };
}

/** True if the rules of the Pod still say what `wanted` says. Windows that are over do not count. */
export function hasRules(pod: Pod, { rules: wanted }: HostStart, now: number): boolean {
  const has = startRulesOf(pod) ?? {};
  if (has.at !== wanted.at || has.before !== wanted.before) return false;
  if (has.maxLockSeconds !== wanted.maxLockSeconds) return false;
  if ((has.forcedBy === undefined) !== (wanted.forcedBy === undefined)) return false;
  if (!wanted.windows) return has.windows === undefined;
  const left = (has.windows ?? []).filter(({ until }) => Date.parse(until) > now);
  const ends = new Set(wanted.windows.map(({ until }) => until));
  return left.length > 0 && left.every(({ until }) => ends.has(until));
}

/** True while the host waits with the start of this Pod, as far as the coordinator knows. */
export function isWaitingToStart(pod: Pod, now: number): boolean {
  const rules = startRulesOf(pod);
  if (!rules || (pod.status?.phase ?? 'Pending') !== 'Pending') return false;
  if (rules.at !== undefined && Date.parse(rules.at) > now) return true;
  return startWaitOf(pod) !== undefined;
}

/** Returns why the host waits with the start of this Pod, as it reported. */
export function startWaitOf(pod: Pod): Pick<Condition, 'reason' | 'message'> | undefined {
  const condition = findCondition(pod.status?.conditions, 'PodReadyToStartContainers');
  const isWait = condition?.reason === WAITS_FOR_START || condition?.reason === UPDATE_LOCKED;
  return isWait ? condition : undefined;
}

/**
 * True for an ended Pod of which no container ever started: it was withdrawn, and is no failure. Only its host can confirm
 * that. An offline host may have run a Pod that is still Pending here; if it were no attempt, the host would run it twice.
 */
export function hasNeverBegun(pod: Pod): boolean {
  if (!startRulesOf(pod) || (pod.status?.phase ?? 'Pending') !== 'Pending') return false;
  if (!isConditionTrue(pod.status?.conditions, STOP_CONFIRMED_CONDITION)) return false;
  const all = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  return all.every(({ state }) => !state?.running && !state?.terminated);
}
