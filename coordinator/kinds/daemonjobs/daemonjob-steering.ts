/**
 * Annotations by which an operator steers a DaemonJob: they approve or promote waves, or override update locks of hosts.
 * They count for one run.
 */
import { LOCK_OVERRIDE_BY, lockOverrideOf } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import { type DaemonJob, runOf } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import {
  ALL_TARGETS,
  REASON_ANNOTATION,
  steeringAnnotation,
} from '../../../shared/kube/rollouts/steering-requests.js';
import type { FieldError, WriteContext } from '../kind.js';
import { CONTROLLER_USER, validateReason } from '../rollouts/rollout-requests.js';
import { forbidden, missing, required } from '../validation/field-error.js';

const OVERRIDE = steeringAnnotation('override-locks');
const STEERING = [...(['approve', 'promote'] as const).map(steeringAnnotation), OVERRIDE];

/**
 * Removes steering of the last run from `next` if its run is higher. Otherwise the new run would open all waves that an
 * operator approved for the last one. A value that comes with the higher run is for the new run.
 */
function dropSteeringOfLastRun(next: DaemonJob, current: DaemonJob): void {
  const { annotations } = next.metadata;
  if (!annotations || runOf(next) <= runOf(current)) return;
  for (const key of STEERING)
    if (annotations[key] === current.metadata.annotations?.[key]) delete annotations[key];
}

/**
 * Replaces the reason of an override by the user and the reason, in place. No client can set this text itself. A reason
 * with the stored hosts repeats their override.
 */
export function prepareSteering(next: DaemonJob, current: DaemonJob, { user }: WriteContext): void {
  dropSteeringOfLastRun(next, current);
  const { annotations } = next.metadata;
  if (!annotations) return;
  const before = current.metadata.annotations ?? {};
  const reason = annotations[REASON_ANNOTATION]?.trim();
  const isNew = isNewOverride(next, current) || (reason && isRepeatedOverride(annotations, before));
  const by = isNew
    ? reason && `${user ?? CONTROLLER_USER}: ${reason}`
    : annotations[OVERRIDE] && before[LOCK_OVERRIDE_BY];
  if (by) annotations[LOCK_OVERRIDE_BY] = by;
  else delete annotations[LOCK_OVERRIDE_BY];
  delete annotations[REASON_ANNOTATION];
  if (Object.keys(annotations).length === 0) delete next.metadata.annotations;
}

/** The reason of an approval is not that of the stored override. */
function isRepeatedOverride(next: Record<string, string>, current: Record<string, string>): boolean {
  return next[OVERRIDE] !== undefined && STEERING.every((key) => next[key] === current[key]);
}

function isNewOverride(next: DaemonJob, current: DaemonJob): boolean {
  const hosts = next.metadata.annotations?.[OVERRIDE];
  return hosts !== undefined && hosts !== current.metadata.annotations?.[OVERRIDE];
}

/** Reverts steering in a write of the status, in place: the right to write it is no right to steer. */
export function keepSteering(next: DaemonJob, current: DaemonJob): void {
  const { annotations: before } = current.metadata;
  const annotations = { ...next.metadata.annotations };
  for (const key of [...STEERING, LOCK_OVERRIDE_BY, REASON_ANNOTATION]) {
    const stored = before?.[key];
    if (stored === undefined) delete annotations[key];
    else annotations[key] = stored;
  }
  if (Object.keys(annotations).length > 0) next.metadata.annotations = annotations;
  else delete next.metadata.annotations;
}

/** Returns true if `next` steers the job and `current` does not do so in the same way. */
export function isSteered(next: DaemonJob, current: DaemonJob): boolean {
  const [now, before] = [next.metadata.annotations ?? {}, current.metadata.annotations ?? {}];
  // The same hosts with another reason are a new override.
  return [...STEERING, LOCK_OVERRIDE_BY].some((key) => now[key] !== undefined && now[key] !== before[key]);
}

/** An override is recorded with its reason, like that of a rollout. */
export function validateLockOverride(next: DaemonJob, current: DaemonJob): FieldError[] {
  const by = next.metadata.annotations?.[LOCK_OVERRIDE_BY];
  if (by !== undefined && by !== current.metadata.annotations?.[LOCK_OVERRIDE_BY]) return validateReason(by);
  if (by !== undefined || !isNewOverride(next, current)) return [];
  return [required(`metadata.annotations[${REASON_ANNOTATION}]`, 'override-locks requires a reason')];
}

/**
 * A user who mistypes a name would believe that the lock of the host is overridden. Names of the stored override are not
 * checked: clients send them again, and their Nodes may be deleted meanwhile.
 */
export function validateJobTargets(
  next: DaemonJob,
  current: DaemonJob,
  isNode: (name: string) => boolean,
): FieldError[] {
  if (!isNewOverride(next, current)) return [];
  const known = new Set([ALL_TARGETS, ...lockOverrideOf(current).hosts]);
  const unknown = lockOverrideOf(next).hosts.filter((name) => !known.has(name) && !isNode(name));
  return unknown.map((name) => missing(`metadata.annotations[${OVERRIDE}]`, name));
}

/** Refuses to steer a job that does not exist yet: its waves would open before an operator has seen the first one. */
export function validateNoSteering(metadata: Partial<ObjectMeta> | undefined, path: string): FieldError[] {
  return [...STEERING, LOCK_OVERRIDE_BY, REASON_ANNOTATION]
    .filter((key) => metadata?.annotations?.[key] !== undefined)
    .map((key) => forbidden(`${path}.annotations[${key}]`, 'annotate the DaemonJob after it is created'));
}
