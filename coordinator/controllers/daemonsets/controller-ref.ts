/** Adopts and releases objects of a controlling owner (pkg/controller ControllerRefManager). */

import { controllerOf, type KubeObject, type OwnerReference } from '../../../shared/kube/objects/meta.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';

/** A controlling owner and its kind. */
export interface Owner<T extends KubeObject = KubeObject> {
  kind: Kind<T>;
  object: T;
  /** The finalizer that the objects have while they are controlled. */
  finalizer?: string;
}

/** Returns the owner reference of the objects that `owner` controls. */
export function controllerReference<T extends KubeObject>({ kind, object }: Owner<T>): OwnerReference {
  const { name, uid = '' } = object.metadata;
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  return { ...type, name, uid, controller: true, blockOwnerDeletion: true };
}

/**
 * Adopts an orphan. Reads the owner from the store first, because the cache may show one that was deleted or
 * replaced. Returns the stored object, or undefined if it was not adopted. Throws ApiError.
 */
export async function adopt<T extends KubeObject, O extends KubeObject>(
  registry: Pick<Registry, 'get' | 'modify'>,
  owner: Owner<O>,
  kind: Kind<T>,
  orphan: T,
): Promise<T | undefined> {
  const fresh = (await registry.get(owner.kind, owner.object.metadata)).object();
  if (fresh.metadata.uid !== owner.object.metadata.uid || fresh.metadata.deletionTimestamp) return undefined;
  const record = await registry.modify(
    kind,
    orphan.metadata,
    (object) => {
      if (controllerOf(object.metadata) || object.metadata.deletionTimestamp) return false;
      object.metadata.ownerReferences = [
        ...(object.metadata.ownerReferences ?? []),
        controllerReference(owner),
      ];
      const { finalizer } = owner;
      const present = object.metadata.finalizers ?? [];
      if (finalizer && !present.includes(finalizer)) object.metadata.finalizers = [...present, finalizer];
      return undefined;
    },
    { preconditions: preconditionsOf(orphan) },
  );
  return record.object();
}

/** Removes the owner's reference and finalizer from an object. Returns the stored object. Throws ApiError. */
export async function release<T extends KubeObject, O extends KubeObject>(
  registry: Pick<Registry, 'modify'>,
  { object: { metadata: owner }, finalizer }: Owner<O>,
  kind: Kind<T>,
  owned: T,
): Promise<T> {
  const record = await registry.modify(
    kind,
    owned.metadata,
    (object) => {
      const others = object.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.uid);
      if (others?.length === object.metadata.ownerReferences?.length) return false;
      if (others?.length) object.metadata.ownerReferences = others;
      else delete object.metadata.ownerReferences;
      const left = object.metadata.finalizers?.filter((one) => one !== finalizer);
      if (left?.length) object.metadata.finalizers = left;
      else delete object.metadata.finalizers;
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
