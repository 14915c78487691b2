/** fleet.everynode.dev/v1 ChangeCalendar: when a RolloutPolicy lets what it governs be changed. Computed, stored nowhere. */
import type { Timestamp } from '../objects/meta.js';

export interface CalendarSpan {
  from: Timestamp;
  to: Timestamp;
  /** `replace`: Pods may be replaced; `create`: made only where there are none; `nothing`: neither. */
  may: 'replace' | 'create' | 'nothing';
  /** A freeze period says so, not merely a window that is closed. */
  frozen?: true;
  /** Why not, in words. */
  why?: string;
}

/** Hosts whose windows and freezes fall on the same time zones. */
export interface CalendarZone {
  /** Names of these zones; [] where no window concerns the hosts, or the policy has none. */
  zones: string[];
  hosts: number;
  /** Without a gap, in order. */
  spans: CalendarSpan[];
}

export interface ChangeCalendar {
  kind: 'ChangeCalendar';
  apiVersion: string;
  policy: { namespace: string; name: string };
  /** Names of the DaemonSets that it governs. */
  daemonSets: string[];
  from: Timestamp;
  to: Timestamp;
  /** The policy is paused or frozen whatever its hours. */
  held?: 'paused' | 'frozen';
  /** Those with the most hosts first. */
  zones: CalendarZone[];
}
