/** Authorizes a write by the object that it would store. */

import { refuseMirrorCreation, refuseNodeMetadata } from '../../access/node-authorizer.js';
import type { Authorizer } from '../../access/rbac-authorizer.js';
import { refuseEscalation } from '../../access/rbac-escalation.js';
import { refuseUnauthorizedSigner } from '../../access/signer-authorization.js';
import { steeringAccess } from '../../access/steering-authorization.js';
import type { WriteOptions } from '../../registry/registry-options.js';
import type { ApiRequest } from '../http/api-context.js';
import { accessOf, requireAccess } from './request-authorization.js';

/**
 * Returns a check that throws 403. It forbids roles and bindings with rights that the user lacks, and a patch that would
 * create without the verb `create`. It forbids to steer a DaemonJob without rights on its Rollout. It also forbids decisions on a signer's requests without rights on the signer, and
 * Pods that claim to be mirror Pods.
 */
export function writeAuthorization(
  authorizer: Authorizer,
  { info, user }: Pick<ApiRequest, 'info' | 'user'>,
): NonNullable<WriteOptions['review']> {
  return (kind, next, current) => {
    const access = accessOf(info);
    if (!current && info.verb !== 'create' && access)
      requireAccess(authorizer, user, { ...access, verb: 'create' });
    const steering = steeringAccess(info.verb, kind, next, current);
    if (steering) requireAccess(authorizer, user, steering);
    refuseNodeMetadata(user, { kind, next, current });
    refuseMirrorCreation({ kind, next, current });
    refuseUnauthorizedSigner(authorizer, user, { kind, subresource: info.subresource, next, current });
    refuseEscalation(authorizer, user, { kind, next, current });
  };
}
