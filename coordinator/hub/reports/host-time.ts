/**
 * A host's times in the hub's own. Hosts report by a clock that never jumps but may be wrong, so a machine that believes
 * in 1970 can neither block nor fake minReadySeconds.
 */
import type { Condition } from '../../../shared/kube/objects/conditions.js';
import { type Timestamp, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { ContainerState, ContainerStatus, PodStatus } from '../../../shared/kube/pods/pod-types.js';

/** Closer than this the clocks count as equal: what is left is mostly the time a frame takes. */
const TOLERANCE_MS = 2_000;

/**
 * What to add to a host's times, in ms: 0 for a clock that is nearly right, else whole seconds, so that a repeated
 * measurement moves no reported time without need.
 */
export function hostOffsetMs(hubTimeMs: number, hostTimeMs: number): number {
  return roundOffset(hubTimeMs - hostTimeMs);
}

/** A difference in ms as what is added to a host's times. */
export function roundOffset(offset: number): number {
  return Math.abs(offset) <= TOLERANCE_MS ? 0 : Math.round(offset / 1_000) * 1_000;
}

/** Before 1970 there was no report: a time below would have a year that no client decodes. */
const EARLIEST_MS = 0;

/** A host's time in the hub's, ms since the epoch: moved by `offsetMs`, neither before 1970 nor later than `nowMs`. */
export function hubTimeMs(hostTime: Timestamp, offsetMs: number, nowMs: number): number {
  return Math.max(EARLIEST_MS, Math.min(Date.parse(hostTime) + offsetMs, nowMs));
}

/** The status with all its times moved by `offsetMs`; none of them later than `nowMs`. */
export function inHubTime(status: PodStatus, offsetMs: number, nowMs: number): PodStatus {
  const now = toTimestamp(nowMs);
  const stays = (time: Timestamp) => time.length === now.length && time <= now;
  if (offsetMs === 0 && timesOf(status).every(stays)) return status;
  const move: Move = (time) => (time ? toTimestamp(hubTimeMs(time, offsetMs, nowMs)) : time);
  const containers = (list: ContainerStatus[] | undefined) => list?.map((each) => moveContainer(each, move));
  return withoutAbsent({
    ...status,
    startTime: move(status.startTime),
    conditions: status.conditions?.map((each) => moveCondition(each, move)),
    initContainerStatuses: containers(status.initContainerStatuses),
    containerStatuses: containers(status.containerStatuses),
    ephemeralContainerStatuses: containers(status.ephemeralContainerStatuses),
  });
}

/** Every time that a status names. */
function timesOf({ startTime, conditions = [], ...lists }: PodStatus): Timestamp[] {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = lists;
  const times: (Timestamp | null | undefined)[] = [startTime];
  for (const condition of conditions) {
    times.push(condition.lastTransitionTime, condition.lastProbeTime, condition.lastHeartbeatTime);
  }
  for (const list of [initContainerStatuses, containerStatuses, ephemeralContainerStatuses]) {
    for (const { state, lastState } of list) {
      for (const each of [state, lastState]) {
        times.push(each?.running?.startedAt, each?.terminated?.startedAt, each?.terminated?.finishedAt);
      }
    }
  }
  return times.filter((time) => time !== null && time !== undefined);
}

type Move = (time: Timestamp | null | undefined) => Timestamp | null | undefined;

function moveCondition(condition: Condition, move: Move): Condition {
  return withoutAbsent({
    ...condition,
    lastTransitionTime: move(condition.lastTransitionTime),
    lastProbeTime: move(condition.lastProbeTime),
    lastHeartbeatTime: move(condition.lastHeartbeatTime),
  });
}

function moveContainer(status: ContainerStatus, move: Move): ContainerStatus {
  return withoutAbsent({
    ...status,
    state: status.state && moveState(status.state, move),
    lastState: status.lastState && moveState(status.lastState, move),
  });
}

function moveState({ waiting, running, terminated }: ContainerState, move: Move): ContainerState {
  if (running) return { running: withoutAbsent({ startedAt: move(running.startedAt) }) };
  if (!terminated) return waiting ? { waiting } : {};
  const { startedAt, finishedAt } = terminated;
  return {
    terminated: withoutAbsent({ ...terminated, startedAt: move(startedAt), finishedAt: move(finishedAt) }),
  };
}

/** Fields that were absent before stay absent, as stored JSON has no `undefined`. */
function withoutAbsent<T extends object>(object: T): T {
  for (const key of Object.keys(object) as (keyof T)[]) if (object[key] === undefined) delete object[key];
  return object;
}
