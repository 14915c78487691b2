/** Recent load, link quality and condition changes of a host. Kept only in memory. */

import type { KubeObject, Timestamp } from '../objects/meta.js';
import type { HostAvailability } from './availability-types.js';

/** Columns of equal length, oldest first. Null where the host reported nothing. Utilisation is in [0, 1]. */
export interface ReadingSeries {
  /** Each value is the maximum of an interval of this many seconds. */
  stepSeconds: number;
  /** Start of each interval, in seconds since the epoch. */
  times: number[];
  cpu: (number | null)[];
  memory: (number | null)[];
  disk: (number | null)[];
  roundTripMs: (number | null)[];
}

export interface ConditionChange {
  time: Timestamp;
  type: string;
  /** The previous status. Absent if the condition is new. */
  from?: string;
  status: string;
  reason: string;
  message: string;
}

/** `fleet.everynode.dev/v1`, `hosts/NAME/readings`. */
export interface HostReadings extends KubeObject {
  /** Time of the last contact. Absent if the host has not connected since the coordinator's start. */
  lastContactTime?: Timestamp;
  /** The last hour. */
  recent: ReadingSeries;
  /** The last day. */
  day: ReadingSeries;
  /** Oldest first, since the coordinator's start, at most 64. */
  changes: ConditionChange[];
  /** The last week. Absent for a host that has never reported. */
  availability?: HostAvailability;
}
