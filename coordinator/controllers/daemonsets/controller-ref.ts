/** Takes objects over and lets them go (pkg/controller ControllerRefManager). */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { controllerOf, type KubeObject } from '../../../shared/kube/objects/meta.js';
import { daemonSetOwner } from '../../decisions/daemonsets/daemon-pod.js';
import { daemonSetKind } from '../../kinds/index.js';
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';

/**
 * Adopts an orphan, unless the store says that the DaemonSet is another one by now or going: a cache may be late.
 * Answers the object as stored, undefined when it was not adopted. Throws ApiError.
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

/** Removes the DaemonSet's reference from an object. Answers the object as stored. Throws ApiError. */
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

/** This very object, not a later one of its name. */
export function preconditionsOf({ metadata }: KubeObject): { uid?: string } {
  return metadata.uid === undefined ? {} : { uid: metadata.uid };
}
