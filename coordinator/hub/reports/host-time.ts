/**
 * Converts a host's times to the coordinator's clock. Hosts report by a clock that never jumps but may be wrong. With
 * the conversion, a host with a clock in 1970 cannot block or fake minReadySeconds.
 */
import type { Condition } from '../../../shared/kube/objects/conditions.js';
import { type Timestamp, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { ContainerState, ContainerStatus, PodStatus } from '../../../shared/kube/pods/pod-types.js';

/** Clocks this close count as equal. The remaining difference is mostly transmission time. */
const TOLERANCE_MS = 2_000;

/**
 * Returns the offset to add to a host's times, in ms: 0 for a clock that is nearly right, otherwise whole seconds.
 * Rounding keeps reported times stable when the measurement is repeated.
 */
export function hostOffsetMs(hubTimeMs: number, hostTimeMs: number): number {
  return roundOffset(hubTimeMs - hostTimeMs);
}

/** Rounds a clock difference in ms to an offset for a host's times. */
export function roundOffset(offset: number): number {
  return Math.abs(offset) <= TOLERANCE_MS ? 0 : Math.round(offset / 1_000) * 1_000;
}

/** An earlier time would have a year that clients cannot decode. */
const EARLIEST_MS = 0;

/** Converts a host's time to the coordinator's clock, in ms since the epoch, between 1970 and `nowMs`. */
export function hubTimeMs(hostTime: Timestamp, offsetMs: number, nowMs: number): number {
  return Math.max(EARLIEST_MS, Math.min(Date.parse(hostTime) + offsetMs, nowMs));
}

/** Returns the status with all times moved by `offsetMs`, none later than `nowMs`. */
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

/** Removes keys with the value undefined, because stored JSON has none. */
function withoutAbsent<T extends object>(object: T): T {
  for (const key of Object.keys(object) as (keyof T)[]) if (object[key] === undefined) delete object[key];
  return object;
}
