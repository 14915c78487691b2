/** The Rollout as it is stored, with its Events. */
import type { Rollout, RolloutStatus } from '../../shared/kube/rollout.js';
import type { DaemonSet } from '../../shared/kube/workload.js';
import { daemonSetOwner } from '../decisions/daemon-pod.js';
import { isSameProgress } from '../decisions/rollout-status.js';
import { concerns } from '../decisions/rollout-steering.js';
import { rolloutKind } from '../kinds/index.js';
import type { DaemonSetParts } from './daemonset-parts.js';
import { preconditionsOf } from './ownership.js';
import type { Turn } from './worker.js';

export class RolloutRecord {
  readonly #parts: Pick<DaemonSetParts, 'registry' | 'recordRollout'>;

  constructor(parts: Pick<DaemonSetParts, 'registry' | 'recordRollout'>) {
    this.#parts = parts;
  }

  /** Writes what is news, making the Rollout where there is none, and tells of a new phase or wave and of each request. */
  async store(
    daemonSet: DaemonSet,
    present: Rollout | undefined,
    status: RolloutStatus,
    turn: Turn,
  ): Promise<void> {
    const { registry } = this.#parts;
    if (present && isSameProgress(present.status, status)) return;
    const rollout = present ?? (await this.#create(daemonSet));
    const record = await registry.writeStatus(
      rolloutKind,
      rollout.metadata,
      () => status,
      preconditionsOf(rollout),
    );
    turn.wrote(record.object());
    this.#tellRequests(daemonSet, rollout, status);
    if (rollout.status?.phase === status.phase && rollout.status.wave === status.wave) return;
    const type = status.phase === 'Failed' ? 'Warning' : 'Normal';
    this.#parts.recordRollout(daemonSet, type, `Rollout${status.phase}`, status.message);
  }

  #tellRequests(
    daemonSet: DaemonSet,
    { status: before }: Rollout,
    { steering, revision }: RolloutStatus,
  ): void {
    const handled = before?.steering?.handled ?? 0;
    for (const request of steering?.requests ?? []) {
      if (request.id <= handled) continue;
      const { verb, targets, user, reason } = request;
      const what = [verb, ...(targets ?? [])].join(' ');
      const why = reason ? `: ${reason}` : '';
      const late = concerns(request, revision) ? '' : ' (not obeyed: it was about an earlier revision)';
      this.#parts.recordRollout(
        daemonSet,
        'Normal',
        'RolloutSteered',
        `${user} asked for ${what}${why}${late}`,
      );
    }
  }

  async #create(daemonSet: DaemonSet): Promise<Rollout> {
    const { namespace, name } = daemonSet.metadata;
    const metadata = { name, ownerReferences: [daemonSetOwner(daemonSet)] };
    return (await this.#parts.registry.create(rolloutKind, namespace, { metadata })).object();
  }
}
