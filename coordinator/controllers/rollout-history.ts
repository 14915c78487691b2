/** Past rollouts of a DaemonSet: Rollouts that stay as they ended, as many as the policy says. */
import { controllerOf } from '../../shared/kube/meta.js';
import { PAST_ROLLOUT_LABEL, type Rollout, type RolloutStatus } from '../../shared/kube/rollout.js';
import { ApiError } from '../../shared/kube/status.js';
import type { DaemonSet } from '../../shared/kube/workload.js';
import { daemonSetOwner } from '../decisions/daemon-pod.js';
import { pastStatus } from '../decisions/rollout-outcome.js';
import { BY_OWNER } from '../informers/informer.js';
import { rolloutKind } from '../kinds/index.js';
import type { DaemonSetParts } from './daemonset-parts.js';
import { isNamespaceEnding } from './namespace-ending.js';
import { unlessOutdated } from './outdated.js';
import { preconditionsOf } from './ownership.js';
import type { Turn } from './worker.js';

const DEFAULT_LIMIT = 10;

/** No DaemonSet is likely to be called so, and none can be kept from it: then that rollout is not kept. */
function pastName(daemonSet: string, { revisionNumber, revision }: RolloutStatus): string {
  return `${daemonSet}.r${revisionNumber ?? revision}`;
}

export class RolloutHistory {
  readonly #parts: Pick<DaemonSetParts, 'registry' | 'informers' | 'clock'>;

  constructor(parts: Pick<DaemonSetParts, 'registry' | 'informers' | 'clock'>) {
    this.#parts = parts;
  }

  /**
   * Keeps `present`, whose status is about to make room for that of another revision, or to go, and answers what is kept. `why`:
   * what puts an end to it. A kill anywhere repeats it: the status makes room only after this.
   */
  async keep(
    daemonSet: DaemonSet,
    present: Rollout,
    why: string,
    turn: Turn,
  ): Promise<RolloutStatus | undefined> {
    const { registry, clock } = this.#parts;
    const { status, metadata } = present;
    if (!status) return undefined;
    const name = pastName(metadata.name, status);
    const labels = { [PAST_ROLLOUT_LABEL]: metadata.name };
    const wanted = { metadata: { name, labels, ownerReferences: [daemonSetOwner(daemonSet)] } };
    const made = await registry.create(rolloutKind, metadata.namespace, wanted).catch((error: unknown) => {
      if (error instanceof ApiError && error.reason === 'AlreadyExists') return undefined;
      if (isNamespaceEnding(error)) return 'nowhere';
      throw error;
    });
    if (made === 'nowhere') return undefined;
    const ref = { name, ...(metadata.namespace ? { namespace: metadata.namespace } : {}) };
    const stored = made?.object() ?? (await registry.get(rolloutKind, ref)).object();
    if (stored.metadata.labels?.[PAST_ROLLOUT_LABEL] !== metadata.name) return undefined;
    const past = pastStatus(status, why, clock.now());
    turn.wrote((await registry.writeStatus(rolloutKind, ref, () => past, preconditionsOf(stored))).object());
    return past;
  }

  /** Deletes the oldest beyond the limit. */
  async trim({ metadata }: DaemonSet, limit = DEFAULT_LIMIT, turn: Turn): Promise<void> {
    const { informers, registry } = this.#parts;
    const owned = informers.rollouts.indexed(BY_OWNER, metadata.uid ?? '').filter(isPast);
    if (owned.length <= limit) return;
    const oldestFirst = [...owned].sort((a, b) => startOf(a) - startOf(b));
    for (const rollout of oldestFirst.slice(0, owned.length - limit)) {
      await unlessOutdated(async () => {
        const preconditions = preconditionsOf(rollout);
        const result = await registry.delete(rolloutKind, rollout.metadata, { preconditions });
        turn.wrote('deleted' in result ? result.deleted : result.terminating);
      });
    }
  }
}

/** Of Rollouts: one that is kept as it ended. */
export function isPast({ metadata }: Rollout): boolean {
  return metadata.labels?.[PAST_ROLLOUT_LABEL] !== undefined && controllerOf(metadata) !== undefined;
}

function startOf({ status, metadata }: Rollout): number {
  return Date.parse(status?.startTime ?? metadata.creationTimestamp ?? '') || 0;
}
