/** Queue keys that name objects: the form of `refText`, read back. */
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';

/** `namespace/name`, or just `name`. */
export function splitKey(key: string): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
