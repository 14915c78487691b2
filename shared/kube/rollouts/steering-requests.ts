/** What people tell a rollout to do, by annotations of the Rollout; admission turns them into requests that carry their names. */
import { FLEET_GROUP } from '../objects/fleet-group.js';
import type { Timestamp } from '../objects/meta.js';

/**
 * Each is an annotation `fleet.everynode.dev/VERB`. Its value names waves (`approve`, `promote`), nodes (`skip`, `unskip`,
 * `override-windows`, `override-locks`) or nothing, `*` all; several are parted by commas.
 *
 * - `approve`: the wave may open. `promote`: the open wave has been watched long enough.
 * - `pause`, `freeze`, `resume`: as the policy's fields, for this DaemonSet alone.
 * - `abort`: hosts that have the revision go back; it is barred. `retry`: it is barred no more.
 * - `skip`: these hosts keep what they have; `unskip`: no longer.
 * - `override-windows`: windows and freeze periods hold nobody of these back, until the rollout ends.
 * - `override-locks`: these busy hosts have their turn all the same.
 */
export const STEERING_VERBS = [
  'approve',
  'promote',
  'pause',
  'freeze',
  'resume',
  'abort',
  'retry',
  'skip',
  'unskip',
  'override-windows',
  'override-locks',
] as const;

/** One of `STEERING_VERBS`. */
export type SteeringVerb = (typeof STEERING_VERBS)[number];

/** Those that nobody may use without saying why. */
export const NEEDS_REASON: ReadonlySet<SteeringVerb> = new Set([
  'abort',
  'retry',
  'override-windows',
  'override-locks',
]);

/** The annotation of a verb. */
export function steeringAnnotation(verb: SteeringVerb): string {
  return `${FLEET_GROUP}/${verb}`;
}

/** Beside a verb: why. */
export const REASON_ANNOTATION = `${FLEET_GROUP}/reason`;

/** All that a verb may name. */
export const ALL_TARGETS = '*';

/** One thing asked of one rollout, as admission has recorded it. */
export interface SteeringRequest {
  /** Counts up within the Rollout. */
  id: number;
  verb: SteeringVerb;
  /** What the verb is about; absent: the rollout. */
  targets?: string[];
  reason?: string;
  /** Who asked, by the credentials of the request. */
  user: string;
  time: Timestamp;
  /** The revision that was on its way then. */
  revision?: string;
}
