/** Objects that are computed instead of stored: one namespace of a kind may be. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { apiVersionOf, type Kind, type VirtualReader } from '../../kinds/kind.js';
import { recordOf } from '../encoding/object-record.js';
import type { ObjectRecord } from '../registry.js';
import { methodNotAllowed } from '../registry-errors.js';

/** Who computes the kind's objects in this namespace; undefined where they are stored. */
export function readerIn<T extends KubeObject>(
  kind: Kind<T>,
  namespace: string | undefined,
): VirtualReader<T> | undefined {
  return kind.reader?.namespace === namespace ? kind.reader : undefined;
}

/** Throws a 405 where the objects are computed. */
export function refuseComputed<T extends KubeObject>(kind: Kind<T>, namespace: string | undefined): void {
  if (readerIn(kind, namespace)) throw methodNotAllowed();
}

/** A computed object as clients get it. It may share its metadata with its maker, and gets its resourceVersion on a copy. */
export function computedRecord<T extends KubeObject>(
  kind: Kind<T>,
  object: T,
  revision: number,
): ObjectRecord<T> {
  const own = {
    ...object,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { ...object.metadata },
  };
  return recordOf(own, revision);
}
