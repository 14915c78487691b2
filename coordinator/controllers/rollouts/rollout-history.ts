/** Past rollouts of a DaemonSet: Rollout objects that are not changed any longer, up to the policy's limit. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { ApiError, unlessGone } from '../../../shared/kube/objects/api-status.js';
import { controllerOf, type ObjectMeta } from '../../../shared/kube/objects/meta.js';
import {
  PAST_ROLLOUT_LABEL,
  type Rollout,
  type RolloutStatus,
} from '../../../shared/kube/rollouts/rollout-types.js';
import { daemonSetOwner } from '../../decisions/daemonsets/daemon-pod.js';
import { pastStatus } from '../../decisions/rollouts/rollout-outcome.js';
import { BY_OWNER } from '../../informers/informer.js';
import { rolloutKind } from '../../kinds/index.js';
import { labelValueProblems } from '../../kinds/validation/name-rules.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { isNamespaceEnding } from '../daemonsets/create-gate.js';
import type { DaemonSetDeps } from '../daemonsets/daemonset-deps.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';

const DEFAULT_LIMIT = 10;

/**
 * If a DaemonSet has this very name, the past rollout is not kept. `time` numbers repeated rollouts of one revision,
 * which happen when its policy was deleted and created again.
 */
function pastName(daemonSet: string, { revisionNumber, revision }: RolloutStatus, time: number): string {
  const name = `${daemonSet}.r${revisionNumber ?? revision}`;
  return time === 1 ? name : `${name}.${time}`;
}

export class RolloutHistory {
  readonly #deps: Pick<DaemonSetDeps, 'registry' | 'informers' | 'clock'>;

  constructor(deps: Pick<DaemonSetDeps, 'registry' | 'informers' | 'clock'>) {
    this.#deps = deps;
  }

  /**
   * Stores a copy of `present`, whose status is about to be replaced or deleted. Returns the copy, or undefined if it
   * cannot be kept. `why`: why the rollout ended. After a crash this is repeated, because the status is replaced only
   * afterwards.
   */
  async keep(
    daemonSet: DaemonSet,
    present: Rollout,
    why: string,
    context: ReconcileContext,
  ): Promise<RolloutStatus | undefined> {
    const { registry, clock } = this.#deps;
    const { status, metadata } = present;
    // Past rollouts are found by a label, and a name may be too long for a label.
    if (!status || labelValueProblems(metadata.name).length > 0) return undefined;
    const stored = await this.#recordOf(daemonSet, metadata, status);
    if (!stored) return undefined;
    const past = pastStatus(status, why, clock.now());
    const keptAs = () => past;
    const record = await registry.writeStatus(rolloutKind, stored.metadata, keptAs, preconditionsOf(stored));
    context.observeWrite(record.object());
    return past;
  }

  /** Returns the object for `status`: a new one, or one left by a crash. Undefined if another object has the name. */
  async #recordOf(
    daemonSet: DaemonSet,
    { name, namespace }: ObjectMeta,
    status: RolloutStatus,
  ): Promise<Rollout | undefined> {
    const labels = { [PAST_ROLLOUT_LABEL]: name };
    for (let time = 1; ; time += 1) {
      const metadata = {
        name: pastName(name, status, time),
        labels,
        ownerReferences: [daemonSetOwner(daemonSet)],
      };
      const stored = await this.#madeOrPresent(namespace, { metadata });
      if (stored?.metadata.labels?.[PAST_ROLLOUT_LABEL] !== name) return undefined;
      if (!stored.status || stored.status.startTime === status.startTime) return stored;
    }
  }

  /** Returns undefined if the namespace is being deleted. */
  async #madeOrPresent(
    namespace: string | undefined,
    wanted: Pick<Rollout, 'metadata'>,
  ): Promise<Rollout | undefined> {
    const { registry } = this.#deps;
    try {
      return (await registry.create(rolloutKind, namespace, wanted)).object();
    } catch (error) {
      if (isNamespaceEnding(error)) return undefined;
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
      const { name } = wanted.metadata;
      return (await registry.get(rolloutKind, { name, ...(namespace ? { namespace } : {}) })).object();
    }
  }

  /** Deletes the oldest past rollouts beyond the limit. */
  async trim({ metadata }: DaemonSet, limit = DEFAULT_LIMIT, context: ReconcileContext): Promise<void> {
    const { informers, registry } = this.#deps;
    const owned = informers.rollouts.indexed(BY_OWNER, metadata.uid ?? '').filter(isPastRollout);
    if (owned.length <= limit) return;
    const oldestFirst = [...owned].sort((a, b) => startOf(a) - startOf(b));
    for (const rollout of oldestFirst.slice(0, owned.length - limit)) {
      await unlessGone(async () => {
        const preconditions = preconditionsOf(rollout);
        const result = await registry.delete(rolloutKind, rollout.metadata, { preconditions });
        context.observeWrite(result.object);
      });
    }
  }
}

export function isPastRollout({ metadata }: Rollout): boolean {
  return metadata.labels?.[PAST_ROLLOUT_LABEL] !== undefined && controllerOf(metadata) !== undefined;
}

function startOf({ status, metadata }: Rollout): number {
  return Date.parse(status?.startTime ?? metadata.creationTimestamp ?? '') || 0;
}
