/** What the API asks of those who foresee what manifests, changes of hosts and time would do. Readers of the informers fit it. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { ChangeCalendar } from '../../../shared/kube/fleet/change-calendar-types.js';
import type { HostEffect, HostEffectRequest } from '../../../shared/kube/fleet/host-effect-types.js';
import type { DaemonSetPlan, Plan, PlanRequest } from '../../../shared/kube/fleet/plan-types.js';
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { ReadRights } from '../auth/read-rights.js';

export interface PolicyWrite {
  /** As it was stored; absent where the write made it. */
  before: RolloutPolicy | undefined;
  /** Absent where the write took it away. */
  after: RolloutPolicy | undefined;
  /** False: whoever wrote it may not list Nodes, and hears how many are meant, not which. */
  mayNameNodes: boolean;
}

export interface ChangePlanner {
  /** The plan lists manifests that would be refused, and names no object that the caller may not read. */
  planManifests(request: PlanRequest, rights: ReadRights): Promise<Plan>;
  /** Of a DaemonSet as a dry run has made it; `before`: as it is stored. */
  planDaemonSet(after: DaemonSet, before: DaemonSet | undefined): Promise<DaemonSetPlan>;
  /** What whoever wrote a RolloutPolicy is to know, a line each. */
  warningsFor(write: PolicyWrite): Promise<string[]>;
}

export interface HostEffectPlanner {
  effectOf(request: HostEffectRequest): Promise<HostEffect>;
}

export interface ChangeCalendarSource {
  /** Throws ApiError 404 for an unknown policy. */
  calendarOf(policy: ObjectRef, days: number): Promise<ChangeCalendar>;
}
