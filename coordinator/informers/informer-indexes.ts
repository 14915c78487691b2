/** Indexes of informers, and the keys of RBAC subjects. */

import type { RoleBinding, Subject, UserInfo } from '../../shared/kube/access/rbac-types.js';
import { controllerOf, type KubeObject } from '../../shared/kube/objects/meta.js';
import { type Pod, targetNodeOf } from '../../shared/kube/pods/pod-types.js';
import { type EndpointSlice, SERVICE_NAME_LABEL } from '../../shared/kube/services/endpoint-types.js';
import { serviceKey } from '../../shared/kube/services/service-types.js';
import {
  BINDINGS_BY_SUBJECT,
  BY_ANY_OWNER,
  BY_NAMESPACE,
  BY_OWNER,
  ORPHANS_BY_NAMESPACE,
  PODS_BY_NODE,
  PODS_BY_NOMINATED_NODE,
  PODS_BY_TARGET_NODE,
  SLICES_BY_SERVICE,
} from './informer.js';

/** Returns the index values of an object. */
type IndexFunction<T extends KubeObject> = (object: T) => readonly string[];

export type IndexFunctions<T extends KubeObject> = Readonly<Record<string, IndexFunction<T>>>;

const present = (value: string | undefined): readonly string[] => (value ? [value] : []);

/** Indexes of every namespaced kind. */
export const COMMON_INDEXES: IndexFunctions<KubeObject> = {
  [BY_OWNER]: (object) => present(controllerOf(object.metadata)?.uid),
  [BY_ANY_OWNER]: (object) => object.metadata.ownerReferences?.map((reference) => reference.uid) ?? [],
  [BY_NAMESPACE]: (object) => present(object.metadata.namespace),
};

const ADOPTABLE: IndexFunction<KubeObject> = ({ metadata }) =>
  controllerOf(metadata) ? [] : present(metadata.namespace);

export const REPLICA_SET_INDEXES: IndexFunctions<KubeObject> = {
  ...COMMON_INDEXES,
  [ORPHANS_BY_NAMESPACE]: ADOPTABLE,
};

export const POD_INDEXES: IndexFunctions<Pod> = {
  ...COMMON_INDEXES,
  [ORPHANS_BY_NAMESPACE]: ADOPTABLE,
  [PODS_BY_NODE]: (pod) => present(pod.spec.nodeName),
  [PODS_BY_NOMINATED_NODE]: ({ spec, status }) => (spec.nodeName ? [] : present(status?.nominatedNodeName)),
  [PODS_BY_TARGET_NODE]: (pod) => present(targetNodeOf(pod)),
};

export const BINDING_INDEXES: IndexFunctions<RoleBinding> = {
  ...COMMON_INDEXES,
  [BINDINGS_BY_SUBJECT]: subjectKeysOf,
};

export const SLICE_INDEXES: IndexFunctions<EndpointSlice> = {
  ...COMMON_INDEXES,
  [SLICES_BY_SERVICE]: ({ metadata: { namespace, labels } }) => {
    const name = labels?.[SERVICE_NAME_LABEL];
    return name ? [serviceKey({ namespace, name })] : [];
  },
};

const NONE: readonly never[] = [];

/** One index. Its cache updates it. */
export class Index<T extends KubeObject> {
  readonly #indexBy: IndexFunction<T>;
  readonly #buckets = new Map<string, Map<string, T>>();

  constructor(indexBy: IndexFunction<T>) {
    this.#indexBy = indexBy;
  }

  replace(key: string, previous: T | undefined, current: T | undefined): void {
    const before = previous ? this.#indexBy(previous) : [];
    const after = current ? this.#indexBy(current) : [];
    for (const value of before) {
      if (!after.includes(value)) this.#remove(value, key);
    }
    if (!current) return;
    for (const value of after) this.#bucket(value).set(key, current);
  }

  lookup(value: string): readonly T[] {
    const bucket = this.#buckets.get(value);
    return bucket ? [...bucket.values()] : NONE;
  }

  #bucket(value: string): Map<string, T> {
    let bucket = this.#buckets.get(value);
    if (!bucket) {
      bucket = new Map();
      this.#buckets.set(value, bucket);
    }
    return bucket;
  }

  #remove(value: string, key: string): void {
    const bucket = this.#buckets.get(value);
    bucket?.delete(key);
    if (bucket?.size === 0) this.#buckets.delete(value);
  }
}

/** Returns `system:serviceaccount:NS:NAME`. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/**
 * A ServiceAccount without a namespace is in the binding's namespace (`pkg/registry/rbac/validation` appliesToUser).
 */
function subjectKey({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  if (kind === 'Group') return `group ${name}`;
  if (kind === 'User') return `user ${name}`;
  return `user ${serviceAccountUser(namespace || bindingNamespace, name)}`;
}

/** Returns the keys of a binding's subjects. The namespace is "" for a ClusterRoleBinding. */
function subjectKeysOf({ metadata, subjects = [] }: RoleBinding): string[] {
  const { namespace = '' } = metadata;
  return subjects.map((subject) => `${namespace}|${subjectKey(subject, namespace)}`);
}

/** Returns the keys of the bindings for this user in that namespace. */
export function subjectKeysFor({ username, groups }: UserInfo, namespace: string): string[] {
  return [`user ${username}`, ...groups.map((group) => `group ${group}`)].map((key) => `${namespace}|${key}`);
}
