/**
 * When a host may start a Pod of a DaemonJob that it received ahead of time. The rules are an annotation of the Pod, so
 * they reach the host and its disk together with the Pod, and the host follows them also while it is offline.
 */
import type { HandoverBlockReason, HandoverWindow, HostHandover } from '../handovers/host-handover.js';
import { controllerOf, type KubeObject, type Timestamp } from '../objects/meta.js';
import type { Pod } from '../pods/pod-types.js';
import { steeringAnnotation } from '../rollouts/steering-requests.js';
import type { CONCURRENCY_POLICIES } from './cron-daemonjob-types.js';

/** Annotation of a Pod of a DaemonJob: `StartRules` in JSON. Only the DaemonJob controller sets it. */
export const START_ANNOTATION = 'fleet.everynode.dev/start';
/** Annotation of a DaemonJob: uid of its CronDaemonJob, and what hosts do with two of its runs. */
export const SERIES_ANNOTATION = 'fleet.everynode.dev/series';
/** Annotation of a DaemonJob: the user who overrides update locks of hosts, and the reason. Only admission sets it. */
export const LOCK_OVERRIDE_BY = 'fleet.everynode.dev/override-locks-by';
/** Label of a Node: its time zone with `.` for `/`, such as `Europe.Berlin`. */
export const TIME_ZONE_LABEL = 'fleet.everynode.dev/time-zone';

/** Reason of a Pod that its host did not start in time. Upstream's Event of a CronJob that is late has the same. */
export const MISS_SCHEDULE = 'MissSchedule';
/** Reason of PodReadyToStartContainers=False while the Pod waits for its time. */
export const WAITS_FOR_START = 'WaitsForStart';
/** Reason of the same condition while an update lock on the host delays the start. A handover's has the same. */
export const UPDATE_LOCKED = 'UpdateLocked' satisfies HandoverBlockReason;
export type StartWaitReason = typeof WAITS_FOR_START | typeof UPDATE_LOCKED;
/**
 * Condition of a Pod with start rules whose host has reported that no container of it is left. A Pod that a user deleted
 * without grace does not have it: its host may have started the Pod.
 */
export const STOP_CONFIRMED_CONDITION = 'fleet.everynode.dev/StopConfirmed';
/** Reason of a Pod that was ended by a later run of its CronDaemonJob. */
export const REPLACED = 'Replaced';

/** Runs of one CronDaemonJob. Rules among the Pods of one host. */
export interface RunSeries {
  uid: string;
  concurrency: (typeof CONCURRENCY_POLICIES)[number];
}

/** All rules that are present must allow the start. */
export interface StartRules extends Pick<HostHandover, 'maxLockSeconds' | 'forcedBy'> {
  /** When the host starts the Pod, by its own clock. */
  at?: Timestamp;
  /** When it is too late: the host reports `MissSchedule`. */
  before?: Timestamp;
  /** By the coordinator's clock. Outside of them the Pod waits. */
  windows?: HandoverWindow[];
  series?: RunSeries;
}

/** Returns true if an operator has changed which update locks are overridden, or why. */
export function hasOtherOverride({ metadata: one }: KubeObject, { metadata: other }: KubeObject): boolean {
  const keys = [steeringAnnotation('override-locks'), LOCK_OVERRIDE_BY];
  return keys.some((key) => one.annotations?.[key] !== other.annotations?.[key]);
}

/** Returns the hosts whose update locks an operator overrides for a job, and the user with the reason. */
export function lockOverrideOf({ metadata: { annotations } }: KubeObject): { hosts: string[]; by: string } {
  const hosts = (annotations?.[steeringAnnotation('override-locks')] ?? '').split(',');
  return {
    hosts: hosts.map((name) => name.trim()).filter((name) => name !== ''),
    by: annotations?.[LOCK_OVERRIDE_BY] ?? '',
  };
}

const parsedRules = new WeakMap<Pod, StartRules | undefined>();

/** Returns the rules of a DaemonJob's Pod, or undefined if it starts at once. Objects are immutable: each is parsed once. */
export function startRulesOf(pod: Pod): StartRules | undefined {
  const text = pod.metadata.annotations?.[START_ANNOTATION];
  if (text === undefined || controllerOf(pod.metadata)?.kind !== 'DaemonJob') return undefined;
  if (!parsedRules.has(pod)) parsedRules.set(pod, parse(text));
  return parsedRules.get(pod);
}

/** A value that another client wrote has no effect: a Pod must not wait forever. */
function parse(text: string): StartRules | undefined {
  try {
    const rules = JSON.parse(text) as StartRules | null;
    return typeof rules === 'object' && rules !== null ? rules : undefined;
  } catch {
    return undefined;
  }
}
