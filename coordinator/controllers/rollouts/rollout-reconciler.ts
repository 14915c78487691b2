/**
 * Rollouts by waves of DaemonSets that a RolloutPolicy governs. Each decision is stored in the Rollout before any
 * action is ordered: otherwise a crash could lose the decision that an update was based on.
 */
import { compileMaintenanceSchedules } from '../../../shared/calendar/maintenance-schedule.js';
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { controllerOf, refText } from '../../../shared/kube/objects/meta.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Rollout, RolloutStatus, SteeringStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import {
  type CurrentRevision,
  rolloutRevision,
  templateHashOf,
} from '../../decisions/daemonsets/daemon-node.js';
import { revisionHashOf } from '../../decisions/daemonsets/template-revision.js';
import { isRollingUpdate } from '../../decisions/daemonsets/update-strategy.js';
import { handoverTerms } from '../../decisions/handovers/handover-terms.js';
import { withConditions } from '../../decisions/rollouts/rollout-conditions.js';
import {
  MAX_FAILED_NODES,
  NO_POLICY,
  ON_DELETE,
  SUPERSEDED_BY_REVISION,
  withOutcome,
} from '../../decisions/rollouts/rollout-outcome.js';
import { statusOf, withStoredTimes } from '../../decisions/rollouts/rollout-status.js';
import { isListed } from '../../decisions/rollouts/steering-state.js';
import { BY_NAMESPACE, BY_OWNER } from '../../informers/informer.js';
import { rolloutKind } from '../../kinds/index.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import type { DaemonSetDeps } from '../daemonsets/daemonset-deps.js';
import type { DaemonSetTally } from '../daemonsets/daemonset-tally.js';
import type { ReconcileContext } from '../queue/reconcile-worker.js';
import { ImagePrePuller } from './image-pre-puller.js';
import type { NodeActions } from './node-actions.js';
import { type PinnedRevision, type RolloutConstraints, UNCONSTRAINED } from './rollout-constraints.js';
import { decideRollout, governingPolicy } from './rollout-decision.js';
import { RolloutHistory } from './rollout-history.js';
import {
  isRevisionCompleted,
  pinnedRevisionOf,
  previousHash,
  stableRevisionIn,
} from './rollout-revisions.js';
import { newFailures, RolloutStatusWriter } from './rollout-status-writer.js';
import { type AssignedWaves, WaveAssignments } from './wave-assignments.js';
import type { WaveIndex } from './wave-index.js';
import { earliest } from './window-index.js';

/** One step of a rollout. Its decision is stored already. */
interface RolloutStep {
  /** As stored. */
  status: RolloutStatus;
  constraints: RolloutConstraints;
  /**
   * Starts image pulls, and returns the actions for nodes whose state has not changed since the decision. Call it when
   * the constraints are in force.
   */
  takeActions(): Promise<NodeActions>;
}

export class RolloutReconciler {
  readonly #deps: DaemonSetDeps;
  readonly #assignments: WaveAssignments;
  readonly #statusWriter: RolloutStatusWriter;
  readonly #prePulls: ImagePrePuller;
  readonly #history: RolloutHistory;

  /** `moved` is called with the fleet key of a DaemonSet when a node's connectivity or labels change its waves. */
  constructor(deps: DaemonSetDeps, moved: (fleetKey: string) => void) {
    this.#deps = deps;
    this.#assignments = new WaveAssignments(deps, moved);
    this.#statusWriter = new RolloutStatusWriter(deps);
    this.#prePulls = new ImagePrePuller(deps, moved);
    this.#history = new RolloutHistory(deps);
  }

  /** Returns the policy that governs the DaemonSet. */
  policyOf(daemonSet: DaemonSet): RolloutPolicy | undefined {
    const { namespace = '' } = daemonSet.metadata;
    return governingPolicy(daemonSet, this.#deps.informers.rolloutPolicies.indexed(BY_NAMESPACE, namespace));
  }

  /** Returns the hash of the template to which a rollout of `current` would roll back. */
  stableTemplate(daemonSet: DaemonSet, current: CurrentRevision): string | undefined {
    const { status } = this.#own(daemonSet) ?? {};
    const stable = status && stableRevisionIn(status, rolloutRevision(current));
    return stable === undefined ? undefined : templateHashOf(stable);
  }

  /** Drops all state in memory. */
  forget({ metadata }: Pick<DaemonSet, 'metadata'>): void {
    const key = refText(metadata);
    this.#assignments.forget(key);
    this.#prePulls.forget(key);
    this.#deps.activeRollouts.set(metadata, undefined);
  }

  /**
   * For a DaemonSet that no policy governs: keeps its Rollout as a past one and deletes it, because its status is
   * outdated.
   */
  async remove(daemonSet: DaemonSet, context: ReconcileContext): Promise<void> {
    this.forget(daemonSet);
    const rollout = this.#own(daemonSet);
    if (!rollout?.status || rollout.metadata.deletionTimestamp) return;
    const why = isRollingUpdate(daemonSet.spec.updateStrategy) ? NO_POLICY : ON_DELETE;
    // The policy set the limit of past rollouts. Without a policy none is deleted.
    const kept = await this.#history.keep(daemonSet, rollout, why, context);
    if (kept?.phase === 'Superseded') {
      this.#deps.recordRolloutEvent(daemonSet, 'Warning', 'RolloutSuperseded', kept.message);
    }
    const result = await this.#deps.registry.delete(rolloutKind, rollout.metadata, {
      preconditions: preconditionsOf(rollout),
    });
    context.observeWrite(result.object);
  }

  /**
   * Returns the constraints until the waves of a new tally are assigned. Nodes are pinned to the stable revision:
   * otherwise one could be updated before its wave opens.
   */
  initialConstraints(daemonSet: DaemonSet, current: CurrentRevision): RolloutConstraints {
    const policy = isRollingUpdate(daemonSet.spec.updateStrategy) && this.policyOf(daemonSet);
    if (!policy) return UNCONSTRAINED;
    const { status } = this.#own(daemonSet) ?? {};
    const isFrozen = policy.spec.frozen === true || status?.steering?.frozen === true;
    const classOf = compileMaintenanceSchedules(policy.spec);
    const revision = rolloutRevision(current);
    const isPinned = status !== undefined && !isRevisionCompleted(status, revision);
    const stable = isPinned
      ? this.#stable(daemonSet, stableRevisionIn(status, revision), current)
      : undefined;
    return {
      ...UNCONSTRAINED,
      pinnedRevision: () => stable,
      isFrozen: (name) => {
        const { labels } = this.#deps.informers.nodes.get({ name })?.metadata ?? {};
        return isFrozen || !classOf(labels).at(this.#deps.clock.now()).create;
      },
    };
  }

  /** Decides and stores the next step. `tally` must be complete. */
  async reconcile(
    daemonSet: DaemonSet,
    policy: RolloutPolicy,
    tally: DaemonSetTally,
    context: ReconcileContext,
  ): Promise<RolloutStep> {
    const { clock, informers, timeOf } = this.#deps;
    const { current } = tally.subject;
    const revision = rolloutRevision(current);
    const { waves, pace } = await this.#wavesFor(daemonSet, policy, tally);
    const rollout = this.#own(daemonSet);
    const decision = decideRollout({
      ...{ daemonSet, policy, waves, pace, revision, rollout, now: clock.now(), timeOf },
      fleetSize: informers.nodes.size,
      previous: previousHash(this.#revisions(daemonSet), current.hash),
      isKept: (one) => this.#revision(daemonSet, one) !== undefined,
    });
    const { verdict, counts, progress, isOpen, nodeStatus: stanceOf, requeueAt, nextWindowAt } = decision;
    const stillDue = unchangedOnly(decision.actions, waves);
    const status = this.#withOutcome(
      daemonSet,
      withStoredTimes(statusOf(policy, verdict, counts, progress, nextWindowAt), rollout?.status, timeOf),
      waves,
      tally,
    );
    if (rollout?.status && rollout.status.revision !== revision) {
      await this.#history.keep(daemonSet, rollout, SUPERSEDED_BY_REVISION, context);
    }
    await this.#statusWriter.write({ daemonSet, policy }, rollout, status, context);
    await this.#history.trim(daemonSet, policy.spec.rolloutHistoryLimit, context);
    const stable = this.#stable(daemonSet, verdict.memory.stable, current);
    const { steering } = verdict.memory;
    const termsFor = handoverTerms(policy.spec, steering, clock.now());
    const overridden = overriddenHandovers(policy, tally, steering);
    const constraints: RolloutConstraints = {
      pinnedRevision: (name) => (isOpen(name) ? undefined : stable),
      handoverTerms: (name) => termsFor({ name, labels: informers.nodes.get({ name })?.metadata.labels }),
      isFrozen: decision.isFrozen,
    };
    const takeActions = async () => {
      const pullAt = await this.#prePulls.reconcile({
        daemonSet,
        policy,
        tally,
        waves,
        phase: verdict.phase,
      });
      this.#deps.activeRollouts.set(daemonSet.metadata, { stanceOf });
      const next = earliest([requeueAt, pullAt]);
      if (next !== undefined) context.requeueAfter(Math.max(0, next - clock.now()));
      const actions = stillDue();
      if (verdict.openUpTo >= 0)
        actions.replace.push(...overridden.filter((name) => !decision.isFrozen(name)));
      return actions;
    };
    return { status, constraints, takeActions };
  }

  #withOutcome(
    daemonSet: DaemonSet,
    status: RolloutStatus,
    waves: WaveIndex,
    tally: DaemonSetTally,
  ): RolloutStatus {
    const { informers, clock } = this.#deps;
    const { metadata, status: before } = this.#own(daemonSet) ?? { metadata: { generation: 1 } };
    const revision = this.#revisions(daemonSet).find(
      (one) => revisionHashOf(one) === templateHashOf(status.revision),
    );
    const failing = newFailures({ status, before }, waves, tally, informers);
    const failedNodes = status.failure === undefined ? [] : waves.failedNames(MAX_FAILED_NODES);
    const ended = withOutcome(status, before, {
      ...{ number: revision?.revision, failing, failedNodes, now: clock.now() },
    });
    // A Rollout of an earlier version has no generation until it is steered.
    const { generation } = metadata;
    const observed = generation === undefined ? ended : { ...ended, observedGeneration: generation };
    return withConditions(observed, before, clock.now());
  }

  /**
   * A Rollout of a deleted DaemonSet of this name is ignored. The garbage collector deletes it, and then a new one is
   * created.
   */
  #own(daemonSet: DaemonSet): Rollout | undefined {
    const found = this.#deps.informers.rollouts.get(refOf(daemonSet));
    const owner = found && controllerOf(found.metadata);
    return !owner || owner.uid === daemonSet.metadata.uid ? found : undefined;
  }

  #revisions({ metadata }: DaemonSet): readonly ControllerRevision[] {
    return this.#deps.informers.controllerRevisions.indexed(BY_OWNER, metadata.uid ?? '');
  }

  #revision(daemonSet: DaemonSet, revision: string | undefined): PinnedRevision | undefined {
    const hash = revision === undefined ? undefined : templateHashOf(revision);
    return pinnedRevisionOf(daemonSet, this.#revisions(daemonSet), hash);
  }

  /** Undefined if only the values differ: earlier values are not kept, so no Pod can be made of them. */
  #stable(
    daemonSet: DaemonSet,
    revision: string | undefined,
    current: CurrentRevision,
  ): PinnedRevision | undefined {
    const stable = this.#revision(daemonSet, revision);
    return stable?.hash === current.hash ? undefined : stable;
  }

  /** Assigns the waves again if the tally or the policy changed. */
  async #wavesFor(
    daemonSet: DaemonSet,
    policy: RolloutPolicy,
    tally: DaemonSetTally,
  ): Promise<AssignedWaves> {
    const present = this.#assignments.current(daemonSet, policy, tally);
    if (present) return present;
    this.forget(daemonSet);
    const previous = previousHash(this.#revisions(daemonSet), tally.subject.current.hash);
    const { status } = this.#own(daemonSet) ?? {};
    return await this.#assignments.assign({ daemonSet, policy, tally, status, previous });
  }
}

/**
 * Returns a function that filters the actions to nodes whose state has not changed since. A useless Pod may have become
 * available while the decision was stored. The next reconcile decides about such nodes.
 */
function unchangedOnly(actions: NodeActions, waves: WaveIndex): () => NodeActions {
  const named = Object.entries(actions) as [keyof NodeActions, string[]][];
  const states = new Map(named.flatMap(([, names]) => names).map((name) => [name, waves.stateOf(name)]));
  return () => {
    const isUnchanged = (name: string) => waves.stateOf(name) === states.get(name);
    const unchanged = named.map(([action, names]) => [action, names.filter(isUnchanged)]);
    return { create: [], replace: [], ...Object.fromEntries(unchanged) };
  };
}

function refOf({ metadata }: DaemonSet) {
  return { ...(metadata.namespace ? { namespace: metadata.namespace } : {}), name: metadata.name };
}

/**
 * Returns nodes whose handover an operator's override concerns. It is requested again, to bring the override to the
 * host.
 */
function overriddenHandovers(
  { spec }: RolloutPolicy,
  tally: DaemonSetTally,
  steering: SteeringStatus | undefined,
): string[] {
  if (!spec.updateLock || !steering?.forced?.length) return [];
  return [...tally.nodes.handedOver].filter((name) => {
    const { forced, withdrawn, isOutdated, waitReason } = tally.recordOf(name)?.handover ?? {};
    const isOpen = !forced && !withdrawn && !isOutdated && waitReason !== 'InsufficientResources';
    return isOpen && isListed(steering.forced, name);
  });
}
