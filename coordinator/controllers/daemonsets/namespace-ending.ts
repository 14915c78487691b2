/** Writes into a namespace that is being deleted: what they would make goes with it. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';

/** Whether a create was refused for that (`NamespaceLifecycle`). */
export function isNamespaceEnding(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    (error.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')
  );
}
