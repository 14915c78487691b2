/** What the API asks of whoever foresees what manifests would do. A reader of the informers fits it. */
import type { DaemonSetPlan, Plan, PlanRequest } from '../../shared/kube/plan.js';
import type { DaemonSet } from '../../shared/kube/workload.js';

export interface Foresee {
  /** What would be refused is named in the plan. */
  planManifests(request: PlanRequest): Promise<Plan>;
  /** Of a DaemonSet as a dry run has made it; `before`: as it is stored. */
  planDaemonSet(after: DaemonSet, before: DaemonSet | undefined): Promise<DaemonSetPlan>;
}
