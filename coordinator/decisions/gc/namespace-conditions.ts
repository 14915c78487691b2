/** The condition that states why a namespace is not emptied (pkg/controller/namespace/deletion). */
import { type Condition, isConditionTrue } from '../../../shared/kube/objects/conditions.js';

/** The type of the condition. */
export const CONTENT_FAILURE = 'NamespaceDeletionContentFailure';

/**
 * Returns the condition after an attempt, or undefined if none is needed: nothing failed, now and before. `failures`: one
 * text for each kind that was not deleted.
 */
export function contentFailure(
  present: readonly Condition[] | undefined,
  failures: readonly string[],
): Condition | undefined {
  if (failures.length > 0) {
    const texts = [...failures].sort().join(', ');
    return {
      type: CONTENT_FAILURE,
      status: 'True',
      reason: 'ContentDeletionFailed',
      message: `Failed to delete all resource types, ${failures.length} remaining: ${texts}`,
    };
  }
  if (!isConditionTrue(present, CONTENT_FAILURE)) return undefined;
  return {
    type: CONTENT_FAILURE,
    status: 'False',
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  };
}
