/** Annotations that the coordinator writes for itself and acts upon. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { WriteContext } from '../kind.js';

/**
 * In place on `next`: a write that came by the API keeps the annotation as it is stored, so that nobody but the hub and the
 * controllers, which write without a user, can add, change or remove it.
 */
export function keepServerAnnotation(
  key: string,
  next: KubeObject,
  current: KubeObject,
  { user }: WriteContext,
): void {
  if (user === undefined) return;
  const stored = current.metadata.annotations?.[key];
  if (stored === undefined) delete next.metadata.annotations?.[key];
  else next.metadata.annotations = { ...next.metadata.annotations, [key]: stored };
}
