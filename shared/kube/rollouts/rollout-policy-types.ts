/** fleet.everynode.dev/v1 RolloutPolicy: how the DaemonSets of a namespace are rolled out. */
import type { IntOrString, KubeObject } from '../objects/meta.js';
import type { LabelSelector } from '../objects/selectors.js';

/** Name of the implicit last wave: all nodes that belong to no other wave. */
export const REST_WAVE = 'rest';

/** Nodes that are updated at the same time. */
export interface RolloutWave {
  name: string;
  /** Selects among the nodes that belong to no earlier wave. Absent: all of them. */
  nodeSelector?: LabelSelector;
  /** Size of the wave: a number, or a percentage of all eligible nodes, rounded up. Absent: all selected nodes. */
  nodes?: IntOrString;
  /** Nodes without an available Pod at once: a number, or a percentage of the wave. Default: the DaemonSet's. */
  maxUnavailable?: IntOrString;
  /** Hosts of this wave that may fail: a number, or a percentage rounded down. Absent: no own limit. */
  maxFailed?: IntOrString;
  /** How long the updated wave must stay available before the next wave opens. */
  soakSeconds?: number;
  /** `Manual`: the wave does not open before the annotation `approve` names it. */
  approval?: 'Automatic' | 'Manual';
  /**
   * How the nodes of a partial wave are selected. `Same` (default): the same nodes for every revision, except for
   * unhealthy ones. `Reshuffled`: a new random selection for every revision.
   */
  draw?: 'Same' | 'Reshuffled';
}

/** Number of hosts that may fail before the rollout stops. */
export interface FailureBudget {
  /** A number, or a percentage of all eligible nodes, rounded down. */
  maxFailed?: IntOrString;
  /** Only failures within this period count. Absent: all failures. */
  withinSeconds?: number;
  /** A Pod counts as failed if it is not available after this time. The time starts when its host could start it. */
  progressDeadlineSeconds?: number;
  /** `RollBack`: when the budget is exceeded, updated hosts get the last completed revision again. */
  action?: 'Pause' | 'RollBack';
}

/** A period in which Pods may be replaced. */
export interface MaintenanceWindow {
  /** A cron pattern in node-cron's syntax. The window opens at each match. */
  schedule: string;
  /** Length of the window in elapsed time. Clock changes do not affect it. */
  durationSeconds: number;
  /** IANA time zone of `schedule`. With `timeZoneLabel`, it only applies to nodes without the label. Default: UTC. */
  timeZone?: string;
  /** Node label with the node's zone, `.` for `/`. Without `timeZone`, nodes without it have no such window. */
  timeZoneLabel?: string;
  /** Nodes to which the window applies. Absent: all nodes. */
  nodeSelector?: LabelSelector;
}

/** A period in which Pods may not be replaced. It overrides windows. */
export interface FreezePeriod {
  /** Start: local time such as `2026-12-18T00:00:00`, or an instant with `Z` or an offset. */
  from: string;
  /** End of the period, exclusive, in the same format. */
  to: string;
  reason?: string;
  /** Like `MaintenanceWindow.timeZone`. */
  timeZone?: string;
  /** Like `MaintenanceWindow.timeZoneLabel`, but nodes without the label use `timeZone`, or UTC. */
  timeZoneLabel?: string;
  /** `Replacements` (default): Pods are still created on new hosts. `Everything`: like `frozen`. */
  scope?: 'Replacements' | 'Everything';
}

/** Pulls the next revision's images before a host is updated. */
export interface PrePull {
  /** How long before a window the pulls start; without windows, at once on a change. Default: 3600. */
  aheadSeconds?: number;
  /** Hosts that pull at once: a number, or a percentage of the eligible nodes, rounded up. Default: 10. */
  maxParallel?: IntOrString;
  /** Average bandwidth of all hosts together, kept by pauses between their starts. Absent: unlimited. */
  bytesPerSecond?: number;
  /** Limits for the hosts of each site (label `spreadBy`). */
  perSite?: { maxParallel?: number; bytesPerSecond?: number };
}

export interface RolloutPolicySpec {
  /** Selects DaemonSets of the namespace by label. */
  selector: LabelSelector;
  /** True: no Pod is replaced. Pods are still created on new hosts. */
  paused?: boolean;
  /** True: no Pod is created, replaced or deleted. */
  frozen?: boolean;
  /** In order. All remaining nodes form a last wave named `rest`. */
  waves?: RolloutWave[];
  failureBudget?: FailureBudget;
  /** Absent or empty: Pods may be replaced at any time. */
  windows?: MaintenanceWindow[];
  freezes?: FreezePeriod[];
  /** Node label that names a site. Partial waves are spread over as many sites as possible. */
  spreadBy?: string;
  /** Limits hosts that were offline during the rollout and are updated after its completion. */
  catchUp?: { maxParallel?: IntOrString };
  prePull?: PrePull;
  /** Deadline for the new Pod to be ready and the coordinator reachable. After it the host reverts on its own. */
  confirm?: { deadlineSeconds?: number };
  /** How long a local update lock may delay the update of a host. */
  updateLock?: { maxSeconds?: number };
  /** Number of past rollouts to keep for each DaemonSet. Default: 10. */
  rolloutHistoryLimit?: number;
}

export interface RolloutPolicy extends KubeObject {
  spec: RolloutPolicySpec;
}
