/** Mirrors are made by the hub alone, of what hosts tell over their links (upstream lets nodes make their own). */

import { ApiError } from '../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { MIRROR_ANNOTATION } from '../../shared/kube/pods/static-pod-annotations.js';
import type { Kind } from '../kinds/kind.js';

/** Throws 403 when a client would create a Pod that calls itself a mirror. */
export function refuseMirrorCreation({
  kind,
  next,
  current,
}: {
  kind: Kind;
  next: KubeObject;
  current: KubeObject | undefined;
}): void {
  if (current || kind.group !== '' || kind.resource !== 'pods') return;
  if (next.metadata.annotations?.[MIRROR_ANNOTATION] === undefined) return;
  const { name } = next.metadata;
  throw new ApiError(
    'Forbidden',
    `pods "${name}" is forbidden: pod has "${MIRROR_ANNOTATION}" annotation, only nodes can create mirror pods`,
    { name, kind: 'pods' },
  );
}
