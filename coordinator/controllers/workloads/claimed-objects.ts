/** The objects that an owner selects: adopted, released, and queued when they change (ControllerRefManager). */
import { isGone } from '../../../shared/kube/objects/api-status.js';
import { controllerOf, type KubeObject } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector, type LabelSelector } from '../../../shared/kube/objects/selectors.js';
import {
  BY_NAMESPACE,
  BY_OWNER,
  type Informer,
  type ObjectChange,
  ORPHANS_BY_NAMESPACE,
} from '../../informers/informer.js';
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import { adopt, type Owner, release } from '../daemonsets/controller-ref.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';

type SelectingOwner = KubeObject & { spec: { selector?: LabelSelector } };

/** Queues the owners of a changed object, and of an orphan the owners that might adopt it. */
export function queueOwners<O extends SelectingOwner>(
  owners: Informer<O>,
  { previous, current }: ObjectChange<KubeObject>,
  queue: (owner: O) => void,
): void {
  if (owners.size === 0) return;
  for (const object of [previous, current]) {
    const reference = object && controllerOf(object.metadata);
    const owner = reference && owners.byUid(reference.uid);
    if (owner) queue(owner);
  }
  if (!current || controllerOf(current.metadata)) return;
  for (const owner of owners.indexed(BY_NAMESPACE, current.metadata.namespace ?? '')) {
    if (compileLabelSelector(owner.spec.selector).matches(current.metadata.labels)) queue(owner);
  }
}

/** The objects that an owner could have. */
interface Candidates<T extends KubeObject> {
  kind: Kind<T>;
  informer: Informer<T>;
}

/**
 * Adopts matching orphans and releases objects that do not match any longer. Returns the objects that belong to the
 * owner. A change is reported to `context`, which reconciles the key again. Throws ApiError.
 */
export async function claimObjects<T extends KubeObject, O extends SelectingOwner>(
  { registry }: { registry: Pick<Registry, 'get' | 'modify'> },
  owner: Owner<O>,
  { kind, informer }: Candidates<T>,
  context: ReconcileContext,
): Promise<T[]> {
  const { metadata, spec } = owner.object;
  const selector = compileLabelSelector(spec.selector);
  const wrote = (stored: KubeObject | undefined) => {
    if (!stored) return;
    context.observeWrite(stored);
    context.requeueAfter(0);
  };
  const owned: T[] = [];
  for (const object of informer.indexed(BY_OWNER, metadata.uid ?? '')) {
    if (selector.matches(object.metadata.labels)) owned.push(object);
    // The garbage collector finds the objects of a deleted owner by their reference.
    else if (!metadata.deletionTimestamp)
      await unlessLost(async () => wrote(await release(registry, owner, kind, object)));
  }
  if (metadata.deletionTimestamp) return owned;
  for (const object of informer.indexed(ORPHANS_BY_NAMESPACE, metadata.namespace ?? '')) {
    if (object.metadata.deletionTimestamp || !selector.matches(object.metadata.labels)) continue;
    await unlessLost(async () => {
      const adopted = await adopt(registry, owner, kind, object);
      wrote(adopted);
      // An adopted object counts at once. Otherwise the owner would create one object too many.
      if (adopted && controllerOf(adopted.metadata)?.uid === metadata.uid) owned.push(adopted);
    });
  }
  return owned;
}

/** A write that lost a race is dropped: the change that won queues the key again. */
async function unlessLost(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
