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

/** Replaces the reason of a new override by the user and the reason, in place. No client can set this text itself. */
export function prepareSteering(next: DaemonJob, current: DaemonJob, { user }: WriteContext): void {
  dropSteeringOfLastRun(next, current);
  const { annotations } = next.metadata;
  if (!annotations) return;
  const before = current.metadata.annotations ?? {};
  const reason = annotations[REASON_ANNOTATION]?.trim();
  const by = isNewOverride(next, current)
    ? reason && `${user ?? CONTROLLER_USER}: ${reason}`
    : annotations[OVERRIDE] && before[LOCK_OVERRIDE_BY];
  if (by) annotations[LOCK_OVERRIDE_BY] = by;
  else delete annotations[LOCK_OVERRIDE_BY];
  delete annotations[REASON_ANNOTATION];
  if (Object.keys(annotations).length === 0) delete next.metadata.annotations;
}

function isNewOverride(next: DaemonJob, current: DaemonJob): boolean {
  const hosts = next.metadata.annotations?.[OVERRIDE];
  return hosts !== undefined && hosts !== current.metadata.annotations?.[OVERRIDE];
}

/** Returns true if `next` steers the job and `current` does not do so in the same way. */
export function isSteered(next: DaemonJob, current: DaemonJob): boolean {
  const [now, before] = [next.metadata.annotations ?? {}, current.metadata.annotations ?? {}];
  return STEERING.some((key) => now[key] !== undefined && now[key] !== before[key]);
}

/** An override is recorded with its reason, like that of a rollout. */
export function validateLockOverride(next: DaemonJob, current: DaemonJob): FieldError[] {
  if (!isNewOverride(next, current)) return [];
  const by = next.metadata.annotations?.[LOCK_OVERRIDE_BY];
  if (by !== undefined) return validateReason(by);
  return [required(`metadata.annotations[${REASON_ANNOTATION}]`, 'override-locks requires a reason')];
}

/** A user who mistypes a name would believe that the lock of the host is overridden. */
export function validateJobTargets(
  next: DaemonJob,
  current: DaemonJob,
  isNode: (name: string) => boolean,
): FieldError[] {
  if (!isNewOverride(next, current)) return [];
  const unknown = lockOverrideOf(next).hosts.filter((name) => name !== ALL_TARGETS && !isNode(name));
  return unknown.map((name) => missing(`metadata.annotations[${OVERRIDE}]`, name));
}

/** Refuses to steer a job that does not exist yet: its waves would open before an operator has seen the first one. */
export function validateNoSteering(metadata: Partial<ObjectMeta> | undefined, path: string): FieldError[] {
  return [...STEERING, LOCK_OVERRIDE_BY, REASON_ANNOTATION]
    .filter((key) => metadata?.annotations?.[key] !== undefined)
    .map((key) => forbidden(`${path}.annotations[${key}]`, 'annotate the DaemonJob after it is created'));
}
