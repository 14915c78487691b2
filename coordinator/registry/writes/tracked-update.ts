/** What every change but an apply does: admission, then ownership. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { admitUpdate, type Replacement } from '../admission/write-admission.js';
import { trackUpdate } from '../managed-fields/track-write.js';
import type { WriteOptions } from '../registry.js';

/** The object that a write stores. Throws 400, 409 and 422. */
export function admitTrackedUpdate<T extends KubeObject>(
  kind: Kind<T>,
  replacement: Replacement<T>,
  options: WriteOptions,
): T {
  const next = admitUpdate(kind, replacement, options);
  trackUpdate(kind, next, replacement.current, options, replacement.now);
  return next;
}
