/**
 * The caller's rights to read the objects behind a computed resource. A role for `hosts` grants no access to Pods:
 * without this check a host would name Pods that the caller cannot list.
 */

import type { ResourceAccess, UserInfo } from '../../../shared/kube/access/rbac-types.js';
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Authorizer } from '../../access/rbac-authorizer.js';
import type { Kind } from '../../kinds/kind.js';
import { forbidden } from './request-authorization.js';

type ReadKind = Pick<Kind, 'group' | 'resource'>;

/** A `ref` without a namespace means a cluster-scoped object, or the objects of all namespaces. */
export interface ReadRights {
  mayRead(kind: ReadKind, ref: ObjectRef): boolean;
  /** Throws 403. */
  requireRead(kind: ReadKind, ref: ObjectRef): void;
}

/** Each of these verbs reveals object names. */
const READING = ['list', 'watch', 'get'] as const;

/** Evaluates the roles at each call, so that changes of roles apply to open watches. */
export function readRights(authorizer: Pick<Authorizer, 'decide'>, user: UserInfo): ReadRights {
  const mayRead = (kind: ReadKind, ref: ObjectRef) =>
    READING.some((verb) => authorizer.decide(user, accessTo(verb, kind, ref)).allowed);
  return {
    mayRead,
    requireRead: (kind, ref) => {
      if (!mayRead(kind, ref)) throw forbidden(user, accessTo('get', kind, ref), '');
    },
  };
}

function accessTo(
  verb: (typeof READING)[number],
  { group, resource }: ReadKind,
  { namespace = '', name }: ObjectRef,
): ResourceAccess {
  return { verb, group, resource, subresource: '', namespace, name: verb === 'get' ? name : '' };
}
