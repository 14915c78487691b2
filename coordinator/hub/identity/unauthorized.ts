/** The one answer to everybody who does not prove who they are: it tells nothing of why. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';

/** 401 as upstream. */
export function unauthorized(): ApiError {
  return new ApiError('Unauthorized', 'Unauthorized');
}
