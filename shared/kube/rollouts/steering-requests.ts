/** Requests of operators to a rollout: annotations that admission converts to entries with the user's name. */

import type { Timestamp } from '../objects/meta.js';
import { FLEET_GROUP } from '../objects/meta.js';

/**
 * Each verb is an annotation `fleet.everynode.dev/VERB`. Its value is a comma-separated list of waves (`approve`,
 * `promote`) or nodes (`skip`, `unskip`, `override-windows`, `override-locks`). `*` means all. Other verbs take no
 * value.
 *
 * - `approve`: allows the wave to open.
 * - `promote`: ends the soak time of the open wave.
 * - `pause`, `freeze`, `resume`: like the policy's fields, for this DaemonSet only.
 * - `abort`: reverts updated hosts and bars the revision.
 * - `retry`: lifts the bar and starts the rollout again.
 * - `skip`: the hosts keep their current revision. `unskip` reverses it.
 * - `override-windows`: windows and freeze periods do not apply to these hosts until the rollout ends.
 * - `override-locks`: local update locks of these hosts are ignored.
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

export type SteeringVerb = (typeof STEERING_VERBS)[number];

/** Verbs that require `REASON_ANNOTATION`. */
export const NEEDS_REASON: ReadonlySet<SteeringVerb> = new Set([
  'abort',
  'retry',
  'override-windows',
  'override-locks',
]);

/** Returns the annotation key of a verb. */
export function steeringAnnotation(verb: SteeringVerb): string {
  return `${FLEET_GROUP}/${verb}`;
}

/** Annotation with the reason, set together with a verb. */
export const REASON_ANNOTATION = `${FLEET_GROUP}/reason`;

/** Value that means all waves or all nodes. */
export const ALL_TARGETS = '*';

/** A request as recorded by admission. */
export interface SteeringRequest {
  /** Increases within the Rollout. */
  id: number;
  verb: SteeringVerb;
  /** Waves or nodes. Absent: the whole rollout. */
  targets?: string[];
  reason?: string;
  user: string;
  time: Timestamp;
  /** The target revision at that time. */
  revision?: string;
}
