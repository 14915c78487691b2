/** Adopts and releases objects of a DaemonSet (pkg/controller ControllerRefManager). */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { controllerOf, type KubeObject } from '../../../shared/kube/objects/meta.js';
import { daemonSetOwner } from '../../decisions/daemonsets/daemon-pod.js';
import { daemonSetKind } from '../../kinds/index.js';
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';

/**
 * Adopts an orphan. Reads the DaemonSet from the store first, because the cache may show one that was deleted or
 * replaced. Returns the stored object, or undefined if it was not adopted. Throws ApiError.
 */
export async function adopt<T extends KubeObject>(
  registry: Pick<Registry, 'get' | 'modify'>,
  daemonSet: DaemonSet,
  kind: Kind<T>,
  orphan: T,
): Promise<T | undefined> {
  const fresh = (await registry.get(daemonSetKind, daemonSet.metadata)).object();
  if (fresh.metadata.uid !== daemonSet.metadata.uid || fresh.metadata.deletionTimestamp) return undefined;
  const record = await registry.modify(
    kind,
    orphan.metadata,
    (object) => {
      if (controllerOf(object.metadata) || object.metadata.deletionTimestamp) return false;
      object.metadata.ownerReferences = [
        ...(object.metadata.ownerReferences ?? []),
        daemonSetOwner(daemonSet),
      ];
      return undefined;
    },
    { preconditions: preconditionsOf(orphan) },
  );
  return record.object();
}

/** Removes the DaemonSet's owner reference from an object. Returns the stored object. Throws ApiError. */
export async function release<T extends KubeObject>(
  registry: Pick<Registry, 'modify'>,
  daemonSet: DaemonSet,
  kind: Kind<T>,
  owned: T,
): Promise<T> {
  const record = await registry.modify(
    kind,
    owned.metadata,
    (object) => {
      const others = object.metadata.ownerReferences?.filter(({ uid }) => uid !== daemonSet.metadata.uid);
      if (others?.length === object.metadata.ownerReferences?.length) return false;
      if (others?.length) object.metadata.ownerReferences = others;
      else delete object.metadata.ownerReferences;
      return undefined;
    },
    { preconditions: preconditionsOf(owned) },
  );
  return record.object();
}

/** Restricts a write to this object, so that it never hits a later object of the same name. */
export function preconditionsOf({ metadata }: KubeObject): { uid?: string } {
  return metadata.uid === undefined ? {} : { uid: metadata.uid };
}
