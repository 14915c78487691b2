/** Parses queue keys in the form of `refText`. */
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';

export function splitKey(key: string): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
