/** fleet.everynode.dev/v1 ChangeCalendar: when a RolloutPolicy allows changes. Computed, never stored. */
import type { Timestamp } from '../objects/meta.js';

export interface CalendarSpan {
  from: Timestamp;
  to: Timestamp;
  /** `replace`: Pods may be replaced. `create`: only new Pods are allowed. `nothing`: neither is allowed. */
  may: 'replace' | 'create' | 'nothing';
  /** True if a freeze period is the cause. Absent if only the window is closed. */
  frozen?: true;
  /** The reason why changes are not allowed, as a sentence. */
  why?: string;
}

/** Hosts whose windows and freeze periods use the same time zones. */
export interface CalendarZone {
  /** Names of these zones. Empty if no window applies to the hosts, or if the policy has none. */
  zones: string[];
  hosts: number;
  /** In order and without gaps. */
  spans: CalendarSpan[];
}

export interface ChangeCalendar {
  kind: 'ChangeCalendar';
  apiVersion: string;
  policy: { namespace: string; name: string };
  daemonSets: string[];
  from: Timestamp;
  to: Timestamp;
  /** Set if the whole policy is paused or frozen, regardless of its schedule. */
  held?: 'paused' | 'frozen';
  /** Zones with the most hosts first. */
  zones: CalendarZone[];
}
