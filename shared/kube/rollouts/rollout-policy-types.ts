/** fleet.everynode.dev/v1 RolloutPolicy: how the DaemonSets of a namespace are rolled out. */
import type { IntOrString } from '../objects/int-or-string.js';
import type { KubeObject } from '../objects/meta.js';
import type { LabelSelector } from '../objects/selectors.js';

/** The wave of all nodes that no other takes. */
export const REST_WAVE = 'rest';

/** Nodes that are updated together. */
export interface RolloutWave {
  name: string;
  /** Of the nodes that no earlier wave has; absent: any. */
  nodeSelector?: LabelSelector;
  /** How many of these: a number, or a percentage of all eligible nodes, rounded up; absent: all. */
  nodes?: IntOrString;
  /** How many may be without their Pod at once: a number, or a percentage of the wave; absent: what the DaemonSet says. */
  maxUnavailable?: IntOrString;
  /** Hosts of this wave that may fail: a number, or a percentage of the wave, rounded down; absent: only the whole counts. */
  maxFailed?: IntOrString;
  /** How long the wave must stay well, once it is updated, before the next opens. */
  soakSeconds?: number;
  /** `Manual`: the wave waits for `APPROVE_ANNOTATION`. */
  approval?: 'Automatic' | 'Manual';
  /** `Same`, the default: a part is drawn the same for each revision, as far as health allows; `Anew`: by another lot each time. */
  draw?: 'Same' | 'Reshuffled';
}

/** Hosts that may fail: above it the rollout stops. */
export interface FailureBudget {
  /** A number, or a percentage of all eligible nodes, rounded down. */
  maxFailed?: IntOrString;
  /** Only hosts that failed within so many seconds count; absent: all that have. */
  withinSeconds?: number;
  /** A new Pod that is not available so long after its host could begin with it has failed. */
  progressDeadlineSeconds?: number;
  /** `RollBack`: beyond the budget the hosts that have the revision are given the last one that was completed. */
  action?: 'Pause' | 'RollBack';
}

/** When Pods may be replaced. */
export interface MaintenanceWindow {
  /** A cron pattern as node-cron reads it: the window opens whenever it matches. */
  schedule: string;
  /** It closes so much later, by the steady clock. */
  durationSeconds: number;
  /** The zone of `schedule`, as the IANA names it. With `timeZoneLabel`, that of nodes without the label. Absent: UTC. */
  timeZone?: string;
  /** Label of the nodes that names their own zone, `.` for `/`: `Europe.Berlin`. A node without it has no such window. */
  timeZoneLabel?: string;
  /** Whose window it is; absent: every node's. */
  nodeSelector?: LabelSelector;
}

/** When Pods may not be replaced, whatever the windows say. */
export interface FreezePeriod {
  /** Its first moment: `2026-12-18T00:00:00` on the clocks of the zone, or with `Z` or `+01:00` one for all. */
  from: string;
  /** The first moment after it, in the same forms. */
  to: string;
  reason?: string;
  /** As a window's. */
  timeZone?: string;
  /** As a window's; for a node without the label `timeZone` counts, or UTC. */
  timeZoneLabel?: string;
  /** `Replacements`, the default: new hosts are served; `Everything`: as `frozen`. */
  scope?: 'Replacements' | 'Everything';
}

/** Fetching the next image ahead of its turn. */
export interface PrePull {
  /** So long before a window opens; without windows at once, when the template has changed. 3600 when not given. */
  aheadSeconds?: number;
  /** Hosts that fetch at once: a number, or a percentage of the eligible nodes, rounded up. 10 when not given. */
  maxParallel?: IntOrString;
  /** What all hosts together take, on average: each that begins is followed by the time for its bytes. Absent: as fast as it goes. */
  bytesPerSecond?: number;
  /** The same of the hosts of each site, by the label `spreadBy`. */
  perSite?: { maxParallel?: number; bytesPerSecond?: number };
}

export interface RolloutPolicySpec {
  /** Which DaemonSets of the namespace, by their labels. */
  selector: LabelSelector;
  /** While true nothing is replaced; new hosts are served. */
  paused?: boolean;
  /** While true no Pod is created, replaced or deleted. */
  frozen?: boolean;
  /** In order. What no wave takes comes last, as a wave named `rest`. */
  waves?: RolloutWave[];
  failureBudget?: FailureBudget;
  /** Absent or empty: always. */
  windows?: MaintenanceWindow[];
  freezes?: FreezePeriod[];
  /** Label whose values are sites: those of a wave that comes before others are drawn from as many as there are. */
  spreadBy?: string;
  /** Hosts that were out of contact at their turn and are back after the rollout was completed. */
  catchUp?: { maxParallel?: IntOrString };
  prePull?: PrePull;
  /** The host puts the previous revision back by itself when the new one is not ready, or the coordinator not reached, by then. */
  confirm?: { deadlineSeconds?: number };
  /** How long a busy host may put its turn off. */
  updateLock?: { maxSeconds?: number };
  /** How many past rollouts of a DaemonSet are kept; 10 when not given. */
  rolloutHistoryLimit?: number;
}

export interface RolloutPolicy extends KubeObject {
  spec: RolloutPolicySpec;
}
