/** The copy of a body that admission changes in place. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { copyJson, isJsonMap, sharingCopy } from '../encoding/json-value.js';

/** Returns a copy of the body. For kinds that allow it, the copy shares unchanged parts with the stored object. */
export function ownCopy<T extends KubeObject>(kind: Kind<T>, body: unknown, current: T): unknown {
  if (!kind.sharesUnchangedParts || !isJsonMap(body)) return copyJson(body);
  const { metadata, ...parts } = body;
  const copy = sharingCopy(parts, { ...current, metadata: undefined });
  return { ...(metadata === undefined ? {} : { metadata: copyJson(metadata) }), ...(copy as object) };
}
