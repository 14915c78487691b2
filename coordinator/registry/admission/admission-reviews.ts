/** What looks at a change of an object before it is stored, and needs more than that object: as upstream's admission plugins. */
import type { Kind } from '../../kinds/kind.js';
import type { Store } from '../../store/store.js';
import type { WriteOptions } from '../registry.js';
import { withPodSecurity } from './pod-security-admission.js';
import { withSteeringTargetCheck } from './steering-target-admission.js';

/** The options with every look that this kind has. */
export async function withAdmissionReviews<T extends WriteOptions>(
  store: Store,
  kind: Kind,
  namespace: string | undefined,
  options: T,
): Promise<T> {
  return withSteeringTargetCheck(store, kind, await withPodSecurity(store, kind, namespace, options));
}
