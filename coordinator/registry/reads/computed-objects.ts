/** Objects that are computed instead of stored. A kind may have one namespace of them. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { apiVersionOf, type Kind, type VirtualReader } from '../../kinds/kind.js';
import { recordOf } from '../encoding/object-record.js';
import type { ObjectRecord } from '../registry.js';
import { methodNotAllowed } from '../registry-errors.js';

/** Returns the reader that computes the kind's objects in this namespace, or undefined if they are stored. */
export function readerIn<T extends KubeObject>(
  kind: Kind<T>,
  namespace: string | undefined,
): VirtualReader<T> | undefined {
  return kind.reader?.namespace === namespace ? kind.reader : undefined;
}

/** Throws a 405 if the objects of this namespace are computed. */
export function refuseComputed<T extends KubeObject>(kind: Kind<T>, namespace: string | undefined): void {
  if (readerIn(kind, namespace)) throw methodNotAllowed();
}

/** Returns a computed object as a record. Sets resourceVersion on a copy, because the reader may keep its own. */
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
