/** Where objects lie in the store: `/registry/<group or core>/<resource>/[<namespace>/]<name>`. */
import type { ObjectRef } from '../../shared/kube/objects/meta.js';
import type { Kind } from '../kinds/kind.js';

/** What all keys begin with. */
export const ROOT_PREFIX = '/registry/';

type Place = Pick<Kind, 'group' | 'resource' | 'namespaced'>;

/** The key of one object. */
export function keyOf(kind: Place, ref: ObjectRef): string {
  return `${prefixOf(kind, ref.namespace)}${ref.name}`;
}

/** What the keys of a kind's objects begin with, of one namespace when one is named. */
export function prefixOf(kind: Place, namespace?: string): string {
  const root = `${ROOT_PREFIX}${resourcePath(kind)}/`;
  return kind.namespaced && namespace ? `${root}${namespace}/` : root;
}

/** `core/pods`, `apps/daemonsets`: names a kind within keys. */
export function resourcePath(kind: Pick<Kind, 'group' | 'resource'>): string {
  return `${kind.group || 'core'}/${kind.resource}`;
}

/** The resourcePath of the kind whose object lies at `key`. */
export function resourcePathOf(key: string): string {
  const resource = key.indexOf('/', ROOT_PREFIX.length) + 1;
  return key.slice(ROOT_PREFIX.length, key.indexOf('/', resource));
}

/** Reads the name of an object back from its key. */
export function refOf(kind: Place, key: string): ObjectRef {
  const rest = key.slice(prefixOf(kind).length);
  const slash = rest.indexOf('/');
  return slash < 0 ? { name: rest } : { namespace: rest.slice(0, slash), name: rest.slice(slash + 1) };
}

/** The key of a ServiceAccount. */
export function accountKey(namespace: string, name: string): string {
  return keyOf({ group: '', resource: 'serviceaccounts', namespaced: true }, { namespace, name });
}

/** The key of a Namespace, which creations in it watch over. */
export function namespaceKey(name: string): string {
  return keyOf({ group: '', resource: 'namespaces', namespaced: false }, { name });
}
