/** Past rollouts of a DaemonSet: Rollouts that stay as they ended, as many as the policy says. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
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
import { unlessGone } from '../queue/outdated-write.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';

const DEFAULT_LIMIT = 10;

/**
 * No DaemonSet is likely to be called so, and none can be kept from it: then that rollout is not kept. `time`: a revision is
 * begun anew where its policy was taken away and there is one again.
 */
function pastName(daemonSet: string, { revisionNumber, revision }: RolloutStatus, time: number): string {
  const name = `${daemonSet}.r${revisionNumber ?? revision}`;
  return time === 1 ? name : `${name}.${time}`;
}

export class RolloutHistory {
  readonly #parts: Pick<DaemonSetDeps, 'registry' | 'informers' | 'clock'>;

  constructor(parts: Pick<DaemonSetDeps, 'registry' | 'informers' | 'clock'>) {
    this.#parts = parts;
  }

  /**
   * Keeps `present`, whose status is about to make room for that of another revision, or to go, and answers what is kept; undefined:
   * it cannot be. `why`: what puts an end to it. A kill anywhere repeats it: the status makes room only after this.
   */
  async keep(
    daemonSet: DaemonSet,
    present: Rollout,
    why: string,
    turn: ReconcileContext,
  ): Promise<RolloutStatus | undefined> {
    const { registry, clock } = this.#parts;
    const { status, metadata } = present;
    // By the label it is found, and a name may be longer than a label.
    if (!status || labelValueProblems(metadata.name).length > 0) return undefined;
    const stored = await this.#recordOf(daemonSet, metadata, status);
    if (!stored) return undefined;
    const past = pastStatus(status, why, clock.now());
    const keptAs = () => past;
    const record = await registry.writeStatus(rolloutKind, stored.metadata, keptAs, preconditionsOf(stored));
    turn.observeWrite(record.object());
    return past;
  }

  /** Where `status` is kept: made, or as a kill has left it; undefined where there is no place for it. */
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

  /** Undefined in a namespace that ends: what is there goes with it. */
  async #madeOrPresent(
    namespace: string | undefined,
    wanted: Pick<Rollout, 'metadata'>,
  ): Promise<Rollout | undefined> {
    const { registry } = this.#parts;
    try {
      return (await registry.create(rolloutKind, namespace, wanted)).object();
    } catch (error) {
      if (isNamespaceEnding(error)) return undefined;
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
      const { name } = wanted.metadata;
      return (await registry.get(rolloutKind, { name, ...(namespace ? { namespace } : {}) })).object();
    }
  }

  /** Deletes the oldest beyond the limit. */
  async trim({ metadata }: DaemonSet, limit = DEFAULT_LIMIT, turn: ReconcileContext): Promise<void> {
    const { informers, registry } = this.#parts;
    const owned = informers.rollouts.indexed(BY_OWNER, metadata.uid ?? '').filter(isPastRollout);
    if (owned.length <= limit) return;
    const oldestFirst = [...owned].sort((a, b) => startOf(a) - startOf(b));
    for (const rollout of oldestFirst.slice(0, owned.length - limit)) {
      await unlessGone(async () => {
        const preconditions = preconditionsOf(rollout);
        const result = await registry.delete(rolloutKind, rollout.metadata, { preconditions });
        turn.observeWrite('deleted' in result ? result.deleted : result.terminating);
      });
    }
  }
}

/** Of Rollouts: one that is kept as it ended. */
export function isPastRollout({ metadata }: Rollout): boolean {
  return metadata.labels?.[PAST_ROLLOUT_LABEL] !== undefined && controllerOf(metadata) !== undefined;
}

function startOf({ status, metadata }: Rollout): number {
  return Date.parse(status?.startTime ?? metadata.creationTimestamp ?? '') || 0;
}
