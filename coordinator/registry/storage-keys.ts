/** Keys of objects in the store: `/registry/<group or core>/<resource>/[<namespace>/]<name>`. */
import type { ObjectRef } from '../../shared/kube/objects/meta.js';
import type { Kind } from '../kinds/kind.js';

export const ROOT_PREFIX = '/registry/';

type Place = Pick<Kind, 'group' | 'resource' | 'namespaced'>;

export function keyOf(kind: Place, ref: ObjectRef): string {
  return `${prefixOf(kind, ref.namespace)}${ref.name}`;
}

/** Returns the key prefix of a kind's objects, in one namespace or in all. */
export function prefixOf(kind: Place, namespace?: string): string {
  const root = `${ROOT_PREFIX}${resourcePath(kind)}/`;
  return kind.namespaced && namespace ? `${root}${namespace}/` : root;
}

/** Returns for example `core/pods` or `apps/daemonsets`. */
export function resourcePath(kind: Pick<Kind, 'group' | 'resource'>): string {
  return `${kind.group || 'core'}/${kind.resource}`;
}

/** Returns the `resourcePath` of the object at `key`. */
export function resourcePathOf(key: string): string {
  const resource = key.indexOf('/', ROOT_PREFIX.length) + 1;
  return key.slice(ROOT_PREFIX.length, key.indexOf('/', resource));
}

/** Returns name and namespace from an object's key. */
export function refOf(kind: Place, key: string): ObjectRef {
  const rest = key.slice(prefixOf(kind).length);
  const slash = rest.indexOf('/');
  return slash < 0 ? { name: rest } : { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) };
}

export function accountKey(namespace: string, name: string): string {
  return keyOf({ group: '', resource: 'serviceaccounts', namespaced: true }, { namespace, name });
}

/** Returns the key of a Namespace. Creations in the namespace use it as a guard. */
export function namespaceKey(name: string): string {
  return keyOf({ group: '', resource: 'namespaces', namespaced: false }, { name });
}
