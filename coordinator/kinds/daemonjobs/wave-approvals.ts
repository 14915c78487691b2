/** Annotations that approve or promote waves of a DaemonJob. They count for one run. */
import { type DaemonJob, runOf } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import { steeringAnnotation } from '../../../shared/kube/rollouts/steering-requests.js';
import type { FieldError } from '../kind.js';
import { forbidden } from '../validation/field-error.js';

const APPROVALS = (['approve', 'promote'] as const).map(steeringAnnotation);

/**
 * Removes approvals of the last run from `next` if its run is higher. Otherwise the new run would open all waves that an
 * operator approved for the last one. A value that comes with the higher run is for the new run.
 */
export function dropApprovalsOfLastRun(next: DaemonJob, current: DaemonJob): void {
  const { annotations } = next.metadata;
  if (!annotations || runOf(next) <= runOf(current)) return;
  for (const key of APPROVALS)
    if (annotations[key] === current.metadata.annotations?.[key]) delete annotations[key];
  if (Object.keys(annotations).length === 0) delete next.metadata.annotations;
}

/** Refuses approvals of a job that does not exist yet: its waves would open before an operator has seen the first one. */
export function validateNoApprovals(metadata: Partial<ObjectMeta> | undefined, path: string): FieldError[] {
  return APPROVALS.filter((key) => metadata?.annotations?.[key] !== undefined).map((key) =>
    forbidden(`${path}.annotations[${key}]`, 'annotate the DaemonJob after it is created'),
  );
}
