/** Dependencies of the Deployment and ReplicaSet controllers. */
import { isGone } from '../../../shared/kube/objects/api-status.js';
import { controllerOf, type KubeObject, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector, type LabelSelector } from '../../../shared/kube/objects/selectors.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { BY_OWNER, type Informer, type Informers, ORPHANS_BY_NAMESPACE } from '../../informers/informer.js';
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import { adopt, type Owner, release } from '../daemonsets/controller-ref.js';
import type { QueueMeter, ReconcileContext } from '../queue/reconcile-worker.js';

export interface WorkloadDeps {
  registry: Pick<Registry, 'get' | 'create' | 'modify' | 'writeStatus' | 'delete'>;
  informers: Informers;
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
  /** Absent: no metrics. */
  queueMeter?: QueueMeter;
}

/** The present time for statuses. */
export function statusTime({ clock }: WorkloadDeps): { now: number; stamp: string } {
  return { now: clock.now(), stamp: toTimestamp(clock.now()) };
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type SelectingOwner = KubeObject & { spec: { selector: LabelSelector } };

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
  { registry }: WorkloadDeps,
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
    else await unlessLost(async () => wrote(await release(registry, owner, kind, object)));
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
