/** There is no such host. */

import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';

/** 404, in the words of a stored kind. */
export function hostNotFound(name: string): ApiError {
  const details = { group: FLEET_GROUP, kind: 'hosts', name };
  return new ApiError('NotFound', `hosts.${FLEET_GROUP} "${name}" not found`, details);
}
