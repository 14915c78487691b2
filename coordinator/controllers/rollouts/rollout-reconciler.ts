/**
 * Rollouts by waves, for DaemonSets that a RolloutPolicy governs: keeps the waves' counts, writes the Rollout, and says
 * whose turn it is. What was decided is stored before anybody gets a turn by it.
 */
import { compileMaintenanceSchedules } from '../../../shared/calendar/maintenance-schedule.js';
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { controllerOf, refText } from '../../../shared/kube/objects/meta.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Rollout, RolloutStatus, SteeringStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { revisionHashOf } from '../../decisions/daemonsets/template-revision.js';
import { isRollingUpdate } from '../../decisions/daemonsets/update-strategy.js';
import { handoverTerms, isAmong } from '../../decisions/handovers/handover-terms.js';
import {
  MAX_FAILED_NODES,
  NO_POLICY,
  ON_DELETE,
  SUPERSEDED_BY_REVISION,
  withOutcome,
} from '../../decisions/rollouts/rollout-outcome.js';
import { statusOf, withStoredTimes } from '../../decisions/rollouts/rollout-status.js';
import { BY_NAMESPACE, BY_OWNER } from '../../informers/informer.js';
import { rolloutKind } from '../../kinds/index.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import type { DaemonSetDeps } from '../daemonsets/daemonset-deps.js';
import {
  type DaemonSetTally,
  NO_HANDOVERS,
  NOT_FROZEN,
  NOT_PINNED,
  type PinnedRevision,
} from '../daemonsets/daemonset-tally.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import { ImagePrePuller } from './image-pre-puller.js';
import type { NodeActions } from './node-actions.js';
import { decideRollout, governingPolicy } from './rollout-decision.js';
import { newFailures } from './rollout-failures.js';
import { RolloutHistory } from './rollout-history.js';
import {
  isRevisionCompleted,
  pinnedRevisionOf,
  previousHash,
  stableRevisionIn,
} from './rollout-revisions.js';
import { RolloutStatusWriter } from './rollout-status-writer.js';
import { type AssignedWaves, WaveAssignments } from './wave-assignments.js';
import type { WaveIndex } from './wave-index.js';
import { earliest } from './window-index.js';

export class RolloutReconciler {
  readonly #parts: DaemonSetDeps;
  readonly #drawn: WaveAssignments;
  readonly #record: RolloutStatusWriter;
  readonly #prePulls: ImagePrePuller;
  readonly #history: RolloutHistory;

  /** `moved` hears the key of a DaemonSet whose nodes came or went out of contact, or got other labels. */
  constructor(parts: DaemonSetDeps, moved: (fleetKey: string) => void) {
    this.#parts = parts;
    this.#drawn = new WaveAssignments(parts, moved);
    this.#record = new RolloutStatusWriter(parts);
    this.#prePulls = new ImagePrePuller(parts, moved);
    this.#history = new RolloutHistory(parts);
  }

  /** The first by name, of those of the namespace that select the DaemonSet. */
  policyOf(daemonSet: DaemonSet): RolloutPolicy | undefined {
    const { namespace = '' } = daemonSet.metadata;
    return governingPolicy(daemonSet, this.#parts.informers.rolloutPolicies.indexed(BY_NAMESPACE, namespace));
  }

  /** Hash of the revision that the rollout of `hash` would go back to. */
  stableRevision(daemonSet: DaemonSet, hash: string): string | undefined {
    const { status } = this.#own(daemonSet) ?? {};
    return status && stableRevisionIn(status, hash);
  }

  /** Nothing is kept in memory of the DaemonSet any more. */
  forget({ metadata }: Pick<DaemonSet, 'metadata'>): void {
    const key = refText(metadata);
    this.#drawn.forget(key);
    this.#prePulls.forget(key);
    this.#parts.activeRollouts.set(metadata, undefined);
  }

  /**
   * Nothing governs the DaemonSet (any more): upstream's rules hold. Its Rollout, which would not be true, goes, and stays among
   * the past ones.
   */
  async remove(daemonSet: DaemonSet, tally: DaemonSetTally, turn: ReconcileContext): Promise<void> {
    this.forget(daemonSet);
    tally.pinnedRevision = NOT_PINNED;
    tally.handoverTerms = NO_HANDOVERS;
    tally.isFrozen = NOT_FROZEN;
    const rollout = this.#own(daemonSet);
    if (!rollout?.status || rollout.metadata.deletionTimestamp) return;
    const why = isRollingUpdate(daemonSet.spec.updateStrategy) ? NO_POLICY : ON_DELETE;
    // How many stay was the policy's to say: nobody trims until there is one again.
    const kept = await this.#history.keep(daemonSet, rollout, why, turn);
    if (kept?.phase === 'Superseded') {
      this.#parts.recordRolloutEvent(daemonSet, 'Warning', 'RolloutSuperseded', kept.message);
    }
    const result = await this.#parts.registry.delete(rolloutKind, rollout.metadata, {
      preconditions: preconditionsOf(rollout),
    });
    turn.observeWrite('deleted' in result ? result.deleted : result.terminating);
  }

  /**
   * Until the waves of a new tally are known, Pods are made of the stable revision, or one might escape its wave; and where
   * it is frozen, none.
   */
  pinUntilAssigned(daemonSet: DaemonSet, tally: DaemonSetTally): void {
    const policy = isRollingUpdate(daemonSet.spec.updateStrategy) && this.policyOf(daemonSet);
    if (!policy) return;
    const { status } = this.#own(daemonSet) ?? {};
    const isFrozen = policy.spec.frozen === true || status?.steering?.frozen === true;
    const classOf = compileMaintenanceSchedules(policy.spec);
    tally.isFrozen = (name) => {
      const { labels } = this.#parts.informers.nodes.get({ name })?.metadata ?? {};
      return isFrozen || !classOf(labels).at(this.#parts.clock.now()).create;
    };
    if (!status || isRevisionCompleted(status, tally.subject.current.hash)) return;
    const other = this.#revision(daemonSet, stableRevisionIn(status, tally.subject.current.hash));
    tally.pinnedRevision = () => other;
  }

  /** Takes the rollout as far as the policy lets it, and answers whose turn it is. `tally` is whole. */
  async reconcile(
    daemonSet: DaemonSet,
    policy: RolloutPolicy,
    tally: DaemonSetTally,
    turn: ReconcileContext,
  ): Promise<NodeActions> {
    const { clock, timeOf } = this.#parts;
    const { hash } = tally.subject.current;
    const { waves, pace } = await this.#drawnFor(daemonSet, policy, tally);
    const rollout = this.#own(daemonSet);
    const decision = decideRollout({
      ...{ daemonSet, policy, waves, pace, revision: hash, rollout, now: clock.now(), timeOf },
      fleetSize: this.#parts.informers.nodes.size,
      previous: previousHash(this.#revisions(daemonSet), hash),
      isKept: (one) => this.#revision(daemonSet, one) !== undefined,
    });
    const { verdict, counts, progress, isOpen, nodeStatus: stanceOf, requeueAt, nextWindowAt } = decision;
    const stillDue = whoHaveNotMoved(decision.actions, waves);
    const status = this.#withOutcome(
      daemonSet,
      withStoredTimes(statusOf(policy, verdict, counts, progress, nextWindowAt), rollout?.status, timeOf),
      waves,
      tally,
    );
    if (rollout?.status && rollout.status.revision !== hash) {
      await this.#history.keep(daemonSet, rollout, SUPERSEDED_BY_REVISION, turn);
    }
    await this.#record.write({ daemonSet, policy }, rollout, status, turn);
    await this.#history.trim(daemonSet, policy.spec.rolloutHistoryLimit, turn);
    const stable = this.#revision(daemonSet, verdict.memory.stable);
    tally.pinnedRevision = (name) => (isOpen(name) ? undefined : stable);
    const overridden = this.#letHostsDecide(policy, tally, verdict.memory.steering);
    tally.isFrozen = decision.isFrozen;
    const pullAt = await this.#prePulls.reconcile({ daemonSet, policy, tally, waves, phase: verdict.phase });
    this.#parts.activeRollouts.set(daemonSet.metadata, { stanceOf });
    const next = earliest([requeueAt, pullAt]);
    if (next !== undefined) turn.requeueAfter(Math.max(0, next - clock.now()));
    const turns = stillDue();
    if (verdict.openUpTo >= 0) turns.replace.push(...overridden.filter((name) => !decision.isFrozen(name)));
    return turns;
  }

  #withOutcome(
    daemonSet: DaemonSet,
    status: RolloutStatus,
    waves: WaveIndex,
    tally: DaemonSetTally,
  ): RolloutStatus {
    const { informers, clock } = this.#parts;
    const { status: before } = this.#own(daemonSet) ?? {};
    const revision = this.#revisions(daemonSet).find((one) => revisionHashOf(one) === status.revision);
    const failing = newFailures({ status, before }, waves, tally, informers);
    const failedNodes = status.failure === undefined ? [] : waves.failedNames(MAX_FAILED_NODES);
    return withOutcome(status, before, {
      ...{ number: revision?.revision, failing, failedNodes, now: clock.now() },
    });
  }

  /** From now on turns are given on the policy's terms. Answers the nodes that have one and are to be told that they are overridden. */
  #letHostsDecide(
    { spec }: RolloutPolicy,
    tally: DaemonSetTally,
    steering: SteeringStatus | undefined,
  ): string[] {
    const { informers, clock } = this.#parts;
    const termsFor = handoverTerms(spec, steering, clock.now());
    tally.handoverTerms = (name) =>
      termsFor({ name, labels: informers.nodes.get({ name })?.metadata.labels });
    // Where no host may hold its turn off there is nothing to override.
    const turned = spec.updateLock && steering?.forced?.length ? [...tally.nodes.handedOver] : [];
    const isToBeTold = (name: string) => {
      const { forced, withdrawn, isOutdated, waitReason: waiting } = tally.recordOf(name)?.handover ?? {};
      return !forced && !withdrawn && !isOutdated && waiting !== 'InsufficientResources';
    };
    return turned.filter((name) => isAmong(name, steering?.forced) && isToBeTold(name));
  }

  /** One of a DaemonSet of this name that is gone is for the garbage collector; until then ours cannot be made. */
  #own(daemonSet: DaemonSet): Rollout | undefined {
    const found = this.#parts.informers.rollouts.get(refOf(daemonSet));
    const owner = found && controllerOf(found.metadata);
    return !owner || owner.uid === daemonSet.metadata.uid ? found : undefined;
  }

  #revisions({ metadata }: DaemonSet): readonly ControllerRevision[] {
    return this.#parts.informers.controllerRevisions.indexed(BY_OWNER, metadata.uid ?? '');
  }

  #revision(daemonSet: DaemonSet, hash: string | undefined): PinnedRevision | undefined {
    return pinnedRevisionOf(daemonSet, this.#revisions(daemonSet), hash);
  }

  /** Drawn anew for another count or policy. */
  async #drawnFor(
    daemonSet: DaemonSet,
    policy: RolloutPolicy,
    tally: DaemonSetTally,
  ): Promise<AssignedWaves> {
    const present = this.#drawn.current(daemonSet, policy, tally);
    if (present) return present;
    this.forget(daemonSet);
    const previous = previousHash(this.#revisions(daemonSet), tally.subject.current.hash);
    const { status } = this.#own(daemonSet) ?? {};
    return await this.#drawn.assign({ daemonSet, policy, tally, status, previous });
  }
}

/**
 * Of these turns, those of nodes that stand where they stood when it was asked for the first time: a Pod of no use that was to go
 * whatever the budget may serve once the decision is stored. The others are decided on anew.
 */
function whoHaveNotMoved(turns: NodeActions, waves: WaveIndex): () => NodeActions {
  const named = Object.entries(turns) as [keyof NodeActions, string[]][];
  const lanes = new Map(named.flatMap(([, names]) => names).map((name) => [name, waves.stateOf(name)]));
  return () => {
    const stands = (name: string) => waves.stateOf(name) === lanes.get(name);
    const still = named.map(([turn, names]) => [turn, names.filter(stands)]);
    return { create: [], replace: [], ...Object.fromEntries(still) };
  };
}

function refOf({ metadata }: DaemonSet) {
  return { ...(metadata.namespace ? { namespace: metadata.namespace } : {}), name: metadata.name };
}
