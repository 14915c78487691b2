/** How a host has done of late: how busy it was, how its link was, and which of its conditions changed. In memory alone. */
import type { KubeObject, Timestamp } from '../objects/meta.js';

/** Columns of equal length, the oldest first; null where the host told nothing. Parts of the whole are in [0, 1]. */
export interface ReadingSeries {
  /** Each value is the highest of so many seconds. */
  stepSeconds: number;
  /** When these began, seconds since the epoch. */
  times: number[];
  cpu: (number | null)[];
  memory: (number | null)[];
  disk: (number | null)[];
  roundTripMs: (number | null)[];
}

/** One condition of a host that has changed. */
export interface ConditionChange {
  time: Timestamp;
  type: string;
  /** The status before; absent where the condition is new. */
  from?: string;
  status: string;
  reason: string;
  message: string;
}

/** `fleet.everynode.dev/v1`, `hosts/NAME/readings`. */
export interface HostReadings extends KubeObject {
  /** When the host was heard last; absent where it was not since the coordinator's start. */
  lastContactTime?: Timestamp;
  /** The last hour. */
  recent: ReadingSeries;
  /** The last day. */
  day: ReadingSeries;
  /** The oldest first, since the coordinator's start, at most 64. */
  changes: ConditionChange[];
}
