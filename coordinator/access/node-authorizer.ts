/**
 * Authorization of nodes, like upstream's Node authorizer and the admission plugin NodeRestriction. A node may read its
 * own Node, its Pods and the objects that they name, and write the status of its own Node and Pods. Agents need less
 * than a kubelet, because they use their link.
 */

import { isDeepStrictEqual } from 'node:util';
import { NODE_USER_PREFIX, NODES_GROUP } from '../../shared/kube/access/node-identity.js';
import type { Access, ResourceAccess, UserInfo } from '../../shared/kube/access/rbac-types.js';
import { ApiError } from '../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { configReferences } from '../../shared/kube/pods/config-reference.js';
import { MIRROR_ANNOTATION } from '../../shared/kube/pods/static-pod-annotations.js';
import { type Informers, PODS_BY_NODE } from '../informers/informer.js';
import { CREDENTIAL_SECRET_TYPE } from '../kinds/config/secret-kind.js';
import type { Kind } from '../kinds/kind.js';
import type { AccessDecision, Authorizer, EffectiveRules } from './rbac-authorizer.js';

const STATUS_WRITES = ['update', 'patch'];

/** Reviews that a node may create, by group. */
const REVIEWS: ReadonlyMap<string, string> = new Map([
  ['authentication.k8s.io', 'tokenreviews'],
  ['authorization.k8s.io', 'subjectaccessreviews'],
]);

type NodeInformers = Pick<Informers, 'pods' | 'secrets'>;

/** Returns the node name of a node's user, or undefined for other users. */
export function nodeOfUser({ username, groups }: UserInfo): string | undefined {
  if (!groups.includes(NODES_GROUP) || !username.startsWith(NODE_USER_PREFIX)) return undefined;
  return username.slice(NODE_USER_PREFIX.length) || undefined;
}

/** Applies the rules of nodes first, then RBAC. */
export class NodeAuthorizer implements Authorizer {
  readonly #roles: Authorizer;
  readonly #informers: NodeInformers;

  constructor(roles: Authorizer, informers: NodeInformers) {
    this.#roles = roles;
    this.#informers = informers;
  }

  decide(user: UserInfo, access: Access): AccessDecision {
    const node = nodeOfUser(user);
    const isOwn = node !== undefined && !('path' in access) && this.#mayNode(node, access);
    return isOwn ? { allowed: true, reason: '' } : this.#roles.decide(user, access);
  }

  rulesOf(user: UserInfo, namespace: string): EffectiveRules {
    return this.#roles.rulesOf(user, namespace);
  }

  rulesOfRole(...role: Parameters<Authorizer['rulesOfRole']>): ReturnType<Authorizer['rulesOfRole']> {
    return this.#roles.rulesOfRole(...role);
  }

  #mayNode(node: string, access: ResourceAccess): boolean {
    const { verb, group, resource, subresource, name, namespace } = access;
    // For callers of the kubelet's port. A node's SubjectAccessReview is limited to its own kubelet.
    if (verb === 'create' && subresource === '' && REVIEWS.get(group) === resource) return true;
    if (group !== '') return false;
    const isRead = verb === 'get' && subresource === '' && name !== '';
    const isStatus = STATUS_WRITES.includes(verb) && subresource === 'status' && name !== '';
    switch (resource) {
      case 'nodes':
        return name === node && (isRead || isStatus);
      case 'pods':
        if (verb === 'list' && subresource === '') return access.nodeName === node;
        return (isRead || isStatus) && this.#isBound(node, namespace, name);
      case 'configmaps':
        return isRead && this.#isNamed(node, { kind: 'ConfigMap', namespace, name });
      case 'secrets':
        return (
          isRead && !this.#isCredential(access) && this.#isNamed(node, { kind: 'Secret', namespace, name })
        );
      case 'serviceaccounts':
        return verb === 'create' && subresource === 'token' && this.#usesAccount(node, namespace, name);
      default:
        return false;
    }
  }

  /** True if a Pod of the node uses this account. The token request itself verifies which Pod the token is for. */
  #usesAccount(node: string, namespace: string, name: string): boolean {
    return this.#informers.pods
      .indexed(PODS_BY_NODE, node)
      .some(({ metadata, spec }) => metadata.namespace === namespace && spec.serviceAccountName === name);
  }

  #isBound(node: string, namespace: string, name: string): boolean {
    return this.#informers.pods.get({ namespace, name })?.spec.nodeName === node;
  }

  #isNamed(node: string, wanted: { kind: string; namespace: string; name: string }): boolean {
    return this.#informers.pods
      .indexed(PODS_BY_NODE, node)
      .flatMap(configReferences)
      .some((named) => isDeepStrictEqual({ ...named }, wanted));
  }

  #isCredential({ namespace, name }: ResourceAccess): boolean {
    return this.#informers.secrets.get({ namespace, name })?.type === CREDENTIAL_SECRET_TYPE;
  }
}

/** Throws 403 if a node's status write changes anything else. Upstream would also write labels. */
export function refuseNodeMetadata(
  user: UserInfo,
  { kind, next, current }: { kind: Kind; next: KubeObject; current: KubeObject | undefined },
): void {
  const node = nodeOfUser(user);
  if (node === undefined || !current) return;
  const changed = (['labels', 'annotations', 'ownerReferences', 'finalizers'] as const).find(
    (field) => !isDeepStrictEqual(next.metadata[field] ?? {}, current.metadata[field] ?? {}),
  );
  if (changed === undefined) return;
  const { name } = current.metadata;
  throw new ApiError(
    'Forbidden',
    `${kind.resource} "${name}" is forbidden: node "${node}" is not allowed to modify ${changed}`,
    { name, kind: kind.resource },
  );
}

/**
 * Throws 403 if a client creates a Pod with the mirror annotation. Only the hub creates mirror Pods, from reports of
 * hosts. Upstream lets nodes create their own.
 */
export function refuseMirrorCreation({
  kind,
  next,
  current,
}: {
  kind: Kind;
  next: KubeObject;
  current: KubeObject | undefined;
}): void {
  if (current || kind.group !== '' || kind.resource !== 'pods') return;
  if (next.metadata.annotations?.[MIRROR_ANNOTATION] === undefined) return;
  const { name } = next.metadata;
  throw new ApiError(
    'Forbidden',
    `pods "${name}" is forbidden: pod has "${MIRROR_ANNOTATION}" annotation, only nodes can create mirror pods`,
    { name, kind: 'pods' },
  );
}
