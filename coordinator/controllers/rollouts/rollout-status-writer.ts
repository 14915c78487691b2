/** Writes a Rollout's status and records its Events. */

import { type DaemonSet, REVISION_HASH_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { HostFailure, Rollout, RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { daemonSetOwner } from '../../decisions/daemonsets/daemon-pod.js';
import { podProgress } from '../../decisions/reasons/pod-progress.js';
import { knownFailures, MAX_FAILURES } from '../../decisions/rollouts/rollout-outcome.js';
import { isSameProgress } from '../../decisions/rollouts/rollout-status.js';
import { appliesTo } from '../../decisions/rollouts/steering-state.js';
import { type Informers, PODS_BY_TARGET_NODE } from '../../informers/informer.js';
import { rolloutKind } from '../../kinds/index.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import type { DaemonSetDeps } from '../daemonsets/daemonset-deps.js';
import type { DaemonSetTally } from '../daemonsets/daemonset-tally.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import type { WaveIndex } from './wave-index.js';

/** A DaemonSet and the policy that governs it. */
interface Governed {
  daemonSet: DaemonSet;
  policy: RolloutPolicy;
}

/** Records the Event on all three objects, so that `kubectl describe` shows it on each. */
type EmitEvent = (type: 'Normal' | 'Warning', reason: string, message: string) => void;

export class RolloutStatusWriter {
  readonly #deps: Pick<DaemonSetDeps, 'registry' | 'recordRolloutEvent'>;

  constructor(deps: Pick<DaemonSetDeps, 'registry' | 'recordRolloutEvent'>) {
    this.#deps = deps;
  }

  /**
   * Creates the Rollout if needed and writes a changed status. Records Events for a new phase or wave and for each
   * request.
   */
  async write(
    { daemonSet, policy }: Governed,
    present: Rollout | undefined,
    status: RolloutStatus,
    context: ReconcileContext,
  ): Promise<void> {
    const { registry } = this.#deps;
    if (present && isSameProgress(present.status, status)) return;
    const rollout = present ?? (await this.#create(daemonSet));
    const record = await registry.writeStatus(
      rolloutKind,
      rollout.metadata,
      () => status,
      preconditionsOf(rollout),
    );
    context.observeWrite(record.object());
    const emit: EmitEvent = (type, reason, message) => {
      const { recordRolloutEvent: recordRollout } = this.#deps;
      recordRollout(daemonSet, type, reason, message);
      recordRollout(rollout, type, reason, message);
      recordRollout(policy, type, reason, `DaemonSet ${daemonSet.metadata.name}: ${message}`);
    };
    emitRequests(emit, rollout, status);
    if (rollout.status?.phase === status.phase && rollout.status.wave === status.wave) return;
    emit(status.phase === 'Failed' ? 'Warning' : 'Normal', `Rollout${status.phase}`, status.message);
  }

  async #create(daemonSet: DaemonSet): Promise<Rollout> {
    const { namespace, name } = daemonSet.metadata;
    const metadata = { name, ownerReferences: [daemonSetOwner(daemonSet)] };
    return (await this.#deps.registry.create(rolloutKind, namespace, { metadata })).object();
  }
}

function emitRequests(
  emit: EmitEvent,
  { status: before }: Rollout,
  { steering, revision }: RolloutStatus,
): void {
  const handled = before?.steering?.handled ?? 0;
  for (const request of steering?.requests ?? []) {
    if (request.id <= handled) continue;
    const { verb, targets, user, reason } = request;
    const what = [verb, ...(targets ?? [])].join(' ');
    const why = reason ? `: ${reason}` : '';
    const late = appliesTo(request, revision) ? '' : ' (ignored: it was for an earlier revision)';
    emit('Normal', 'RolloutSteered', `${user} requested ${what}${why}${late}`);
  }
}

type Failing = Omit<HostFailure, 'time'>;

/** Returns failures that `before` does not have, up to the limit. */
export function newFailures(
  { status, before }: { status: RolloutStatus; before: RolloutStatus | undefined },
  waves: WaveIndex,
  tally: DaemonSetTally,
  informers: Pick<Informers, 'pods'>,
): Failing[] {
  const known = new Set(knownFailures(before, status).map(({ node }) => node));
  const failing: Failing[] = [];
  if (status.failed === 0 || known.size >= MAX_FAILURES) return failing;
  for (const wave of status.waves.keys()) {
    for (const node of waves.failed(wave)) {
      if (known.size + failing.length >= MAX_FAILURES) return failing;
      if (!known.has(node)) failing.push(failureOn(node, tally, informers));
    }
  }
  return failing;
}

function failureOn(node: string, tally: DaemonSetTally, { pods }: Pick<Informers, 'pods'>): Failing {
  const { subject } = tally;
  const pod = pods
    .indexed(PODS_BY_TARGET_NODE, node)
    .filter(({ metadata }) => controllerOf(metadata)?.uid === subject.uid)
    .find(({ metadata }) => metadata.labels?.[REVISION_HASH_LABEL] === subject.current.hash);
  const { failureReason } = tally.recordOf(node)?.newPod ?? {};
  const progress = pod && podProgress(pod);
  const isLost = failureReason === undefined && progress?.code === 'Running';
  return {
    node,
    reason: failureReason ?? (isLost ? 'HostLost' : 'NotAvailableInTime'),
    ...(progress && !isLost ? { message: progress.because } : {}),
  };
}
