/** The Rollout as it is stored, with its Events. */
import type { Rollout, RolloutStatus } from '../../shared/kube/rollout.js';
import type { RolloutPolicy } from '../../shared/kube/rollout-policy.js';
import type { DaemonSet } from '../../shared/kube/workload.js';
import { daemonSetOwner } from '../decisions/daemon-pod.js';
import { isSameProgress } from '../decisions/rollout-status.js';
import { appliesTo } from '../decisions/rollout-steering.js';
import { rolloutKind } from '../kinds/index.js';
import type { DaemonSetDeps } from './daemonset-parts.js';
import { preconditionsOf } from './ownership.js';
import type { ReconcileContext } from './worker.js';

/** A DaemonSet, and the policy that governs it. */
interface Governed {
  daemonSet: DaemonSet;
  policy: RolloutPolicy;
}

/** On all three that `kubectl describe` shows: a rollout has some Events in each wave, so three of one cost nothing. */
type Tell = (type: 'Normal' | 'Warning', reason: string, message: string) => void;

export class RolloutStatusWriter {
  readonly #parts: Pick<DaemonSetDeps, 'registry' | 'recordRolloutEvent'>;

  constructor(parts: Pick<DaemonSetDeps, 'registry' | 'recordRolloutEvent'>) {
    this.#parts = parts;
  }

  /** Writes what is news, making the Rollout where there is none, and tells of a new phase or wave and of each request. */
  async write(
    { daemonSet, policy }: Governed,
    present: Rollout | undefined,
    status: RolloutStatus,
    turn: ReconcileContext,
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
    turn.observeWrite(record.object());
    const tell: Tell = (type, reason, message) => {
      const { recordRolloutEvent: recordRollout } = this.#parts;
      recordRollout(daemonSet, type, reason, message);
      recordRollout(rollout, type, reason, message);
      recordRollout(policy, type, reason, `DaemonSet ${daemonSet.metadata.name}: ${message}`);
    };
    tellRequests(tell, rollout, status);
    if (rollout.status?.phase === status.phase && rollout.status.wave === status.wave) return;
    tell(status.phase === 'Failed' ? 'Warning' : 'Normal', `Rollout${status.phase}`, status.message);
  }

  async #create(daemonSet: DaemonSet): Promise<Rollout> {
    const { namespace, name } = daemonSet.metadata;
    const metadata = { name, ownerReferences: [daemonSetOwner(daemonSet)] };
    return (await this.#parts.registry.create(rolloutKind, namespace, { metadata })).object();
  }
}

function tellRequests(tell: Tell, { status: before }: Rollout, { steering, revision }: RolloutStatus): void {
  const handled = before?.steering?.handled ?? 0;
  for (const request of steering?.requests ?? []) {
    if (request.id <= handled) continue;
    const { verb, targets, user, reason } = request;
    const what = [verb, ...(targets ?? [])].join(' ');
    const why = reason ? `: ${reason}` : '';
    const late = appliesTo(request, revision) ? '' : ' (not obeyed: it was about an earlier revision)';
    tell('Normal', 'RolloutSteered', `${user} asked for ${what}${why}${late}`);
  }
}
