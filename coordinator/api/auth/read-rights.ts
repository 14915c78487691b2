/**
 * The caller's rights to read the objects that a cluster-wide answer is computed from. A role for `hosts` is no role for the Pods of all
 * namespaces: without this check a host would name Pods that its reader cannot list.
 */

import type { ResourceAccess, UserInfo } from '../../../shared/kube/access/rbac-types.js';
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Authorizer } from '../../access/rbac-authorizer.js';
import type { Kind } from '../../kinds/kind.js';
import { forbidden } from './request-authorization.js';

type ReadKind = Pick<Kind, 'group' | 'resource'>;

/** `ref` without a namespace: of a cluster-scoped object, or of those in all namespaces. */
export interface ReadRights {
  mayRead(kind: ReadKind, ref: ObjectRef): boolean;
  /** Throws 403. */
  requireRead(kind: ReadKind, ref: ObjectRef): void;
}

/** Any of these shows the names of objects. */
const READING = ['list', 'watch', 'get'] as const;

/** Asks roles at each call, so that an open watch follows them. */
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
