/** The error for all failed authentication. It contains no cause, so that it reveals nothing to an attacker. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';

/** Upstream's 401. */
export function unauthorized(): ApiError {
  return new ApiError('Unauthorized', 'Unauthorized');
}
