/** What every change but an apply does: admission, then ownership. */
import type { KubeObject, ObjectRef } from '../../shared/kube/meta.js';
import type { Kind } from '../kinds/kind.js';
import { admitUpdate } from './admission.js';
import { trackUpdate } from './managed-fields/track-write.js';
import type { WriteOptions } from './registry.js';

/** The object that a write with the outcome `body` stores in place of `current`. Throws 400, 409 and 422. */
export function admitTrackedUpdate<T extends KubeObject>(
  kind: Kind<T>,
  ref: ObjectRef,
  body: unknown,
  current: T,
  now: number,
  options: WriteOptions,
): T {
  const next = admitUpdate(kind, ref, body, current, now, options);
  trackUpdate(kind, next, current, options, now);
  return next;
}
