/** The state of one node in a rollout by waves. Times are ms since the epoch. */
import { NODE_UPDATE_STATES, type NodeUpdateState, partsOf } from '../daemonsets/rolling-update.js';
import type { NodeFacts } from './node-rollout-facts.js';

/**
 * Conditions that override the judgement of a node by its Pods. At most one condition applies. `deferred`: the host was offline
 * before its update started, and is updated when it returns. `deferredHandover`: the host is offline and may have
 * started its handover, but the policy has no failure budget. `failed`: the host received the revision and is not well.
 * `retryPending`: it failed before a retry and gets another Pod. `staleFailed`: the current revision is barred, and the
 * Pod is of an earlier barred revision. `awaitingResync`: the host was connected, but has not reported since the
 * coordinator started.
 */
const CONDITIONS = [
  'none',
  'skipped',
  'deferred',
  'deferredHandover',
  'failed',
  'retryPending',
  'staleFailed',
  'awaitingResync',
  'outOfWindow',
] as const;

type NodeCondition = (typeof CONDITIONS)[number];

/** Interned: equal states are the same object, so they can be compared by identity and used as Map keys. */
export interface NodeRolloutState {
  readonly pods: NodeUpdateState;
  readonly condition: NodeCondition;
}

const STATES = new Map(
  NODE_UPDATE_STATES.map((pods) => [
    pods,
    new Map(
      CONDITIONS.map((condition): [NodeCondition, NodeRolloutState] => [condition, { pods, condition }]),
    ),
  ]),
);

export function rolloutState(pods: NodeUpdateState, condition: NodeCondition = 'none'): NodeRolloutState {
  return STATES.get(pods)?.get(condition) ?? { pods, condition };
}

/** True if the node's Pods decide its state. The other conditions replace that judgement. */
function isJudgedByPods({ condition }: NodeRolloutState): boolean {
  return (
    condition === 'none' ||
    condition === 'staleFailed' ||
    condition === 'awaitingResync' ||
    condition === 'outOfWindow'
  );
}

/** True if the node was taken out of the rollout before its update. Its Pod does not matter. */
function isSetAside({ condition }: NodeRolloutState): boolean {
  return condition === 'skipped' || isDeferred({ condition });
}

export function isDeferred({ condition }: Pick<NodeRolloutState, 'condition'>): boolean {
  return condition === 'deferred' || condition === 'deferredHandover';
}

/** True if the node counts as one with a Pod of an older revision. */
export function hasOldPod(state: NodeRolloutState): boolean {
  return isSetAside(state) || (isJudgedByPods(state) && partsOf(state.pods).old === true);
}

/** True if the node may have a Pod that a rollback has to remove. */
export function mayHoldBarredPod(state: NodeRolloutState): boolean {
  const { pods, condition } = state;
  if (condition === 'failed' || condition === 'retryPending' || condition === 'staleFailed') return true;
  return !isSetAside(state) && (partsOf(pods).new === true || pods === 'awaitingResync');
}

/** True if the node's Pod is being replaced now. */
export function isInProgress({ pods, condition }: NodeRolloutState): boolean {
  if (condition !== 'none') return condition === 'retryPending';
  return (
    pods === 'handedOver' ||
    pods === 'inProgress' ||
    pods === 'empty' ||
    (partsOf(pods).new === true && pods !== 'newAvailable')
  );
}

/** True if the node's update has not started, and the node is not skipped or deferred. */
export function isPending(state: NodeRolloutState): boolean {
  return isJudgedByPods(state) && partsOf(state.pods).pending === true;
}

/** True if the node's update waits for its maintenance window. */
export function awaitsWindow({ pods, condition }: NodeRolloutState): boolean {
  return condition === 'outOfWindow' && !partsOf(pods).new;
}

export function isUpdated(state: NodeRolloutState): boolean {
  return isJudgedByPods(state) && state.pods === 'newAvailable';
}

/** True if the node's update is not completed, or has failed. */
export function isUnfinished(state: NodeRolloutState): boolean {
  return hasOldPod(state) || state.condition === 'failed' || state.condition === 'retryPending';
}

/** True if upstream's choice counts the node. maxUnavailable is a share of these nodes. */
export function usesBudget({ pods, condition }: NodeRolloutState): boolean {
  if (condition === 'outOfWindow') return !partsOf(pods).retiring;
  return condition !== 'deferred' && condition !== 'failed' && condition !== 'skipped';
}

/** True if the node uses budget, but is in no set of nodes that upstream's choice counts as unavailable. */
export function isAlsoUnavailable({ pods, condition }: NodeRolloutState): boolean {
  if (condition === 'retryPending' || condition === 'deferredHandover') return true;
  return (condition === 'awaitingResync' || condition === 'outOfWindow') && pods === 'oldUnavailable';
}

/** True if an available Pod of the node counts for upstream's choice. */
export function isCovered(state: NodeRolloutState): boolean {
  return isJudgedByPods(state) && usesBudget(state) && partsOf(state.pods).serves === true;
}

/** Rules of a policy for failures. */
export interface FailureRules {
  /**
   * Time that a new Pod has to become available. Absent: no node fails, and a slow Pod blocks its wave, like in upstream's rolling update.
   */
  deadlineMs?: number;
  /** How long a failure counts. Absent: permanently. */
  withinMs?: number;
  /** When the rollout started. */
  startedAt?: number | undefined;
  /** When the rollout was last retried. Earlier failures do not count. */
  retriedAt?: number | undefined;
}

/** Returns when an unavailable new Pod, or a host that cannot start its handover, fails. Undefined for other nodes. */
export function deadlineOf(facts: NodeFacts, { deadlineMs }: FailureRules): number | undefined {
  const { updateState, newPodAt, isConfirming, waitReason, waitingSince, isWithdrawn, isOutdated } = facts;
  const { isAwaitingResync, resyncedAt = Number.NEGATIVE_INFINITY, awaitsPredecessor, startedAt } = facts;
  // While the coordinator was down, the Pod may have become available. The host may also never have received it.
  if (isAwaitingResync || facts.isPreempted) return undefined;
  const isWanted = !isWithdrawn && !isOutdated;
  const isStuck = waitReason === 'ImageNotPulled' || waitReason === 'InsufficientResources';
  if (updateState === 'handedOver' && isWanted && isStuck && waitingSince !== undefined) {
    return deadlineMs === undefined ? undefined : Math.max(waitingSince, resyncedAt) + deadlineMs;
  }
  const couldStartAt = awaitsPredecessor ? facts.predecessorEndsBy : (startedAt ?? newPodAt);
  if (isConfirming || couldStartAt === undefined) return undefined;
  if (deadlineMs === undefined || newPodAt === undefined || !isNewUnavailable(updateState)) return undefined;
  return Math.max(newPodAt, couldStartAt, resyncedAt) + deadlineMs;
}

/** Returns since when a node has failed, or undefined. */
export function failedSince(facts: NodeFacts, now: number, rules: FailureRules): number | undefined {
  const { updateState, contact, lostAt, failureReason, newPodAt } = facts;
  // A host that had only to start its handover may have lost its link because of the new Pod.
  const mayHaveIt = partsOf(updateState).new === true || updateState === 'handedOver';
  if (!mayHaveIt || rules.deadlineMs === undefined) return undefined;
  const hasServed =
    isNewAvailable(updateState) && newPodAt !== undefined && newPodAt < (rules.startedAt ?? newPodAt);
  // Restarts from before a rollout returned to this revision do not count as failures of the rollout.
  if (failureReason !== undefined && !hasServed) return facts.failureReasonSince ?? newPodAt ?? now;
  if (contact === 'lost') return Math.max(lostAt ?? now, earliestHandoverStart(facts) ?? 0);
  const deadline = deadlineOf(facts, { deadlineMs: rules.deadlineMs });
  return deadline !== undefined && deadline <= now ? deadline : undefined;
}

export function nodeRolloutState(facts: NodeFacts, now: number, rules: FailureRules): NodeRolloutState {
  return rolloutState(facts.updateState, conditionOf(facts, now, rules));
}

/** A retiring Pod is deleted in its wave like any other, as in upstream's rolling update, but has no successor. */
function conditionOf(facts: NodeFacts, now: number, rules: FailureRules): NodeCondition {
  const { updateState, contact, isSkipped, isStaleFailed } = facts;
  const { old, pending } = partsOf(updateState);
  if (updateState === 'handedOver' && contact !== 'here') {
    if ((earliestHandoverStart(facts) ?? Number.POSITIVE_INFINITY) > now) return 'deferred';
    if (rules.deadlineMs === undefined) return 'deferredHandover';
  }
  if (pending) {
    if (isSkipped) return 'skipped';
    if (contact !== 'here') return 'deferred';
  }
  const since = failedSince(facts, now, rules);
  if (since !== undefined) return failedCondition(facts, since, rules);
  const isPlainOld = updateState === 'oldAvailable' || updateState === 'oldUnavailable';
  // Do not await a host that was offline at the start. Its state is as well known as before, and it may connect only
  // once a day.
  if (facts.isAwaitingResync && contact === 'here' && (isPlainOld || updateState === 'newAvailable'))
    return 'awaitingResync';
  // As with Pods of the current revision: replace an available Pod in its window, an unavailable one at any time.
  if (isStaleFailed && updateState === 'oldUnavailable') return 'staleFailed';
  const hasWindow = (old && pending) || updateState === 'newAvailable' || updateState === 'blocked';
  if (facts.isOutOfWindow && hasWindow) return 'outOfWindow';
  return isStaleFailed && updateState === 'oldAvailable' ? 'staleFailed' : 'none';
}

/** Returns the first time at or after `from` that lies in a window, or undefined. */
function firstWithin(windows: NonNullable<NodeFacts['handoverWindows']>, from: number): number | undefined {
  const open = windows.filter(({ until }) => until > from).map((window) => Math.max(window.from, from));
  return open.length > 0 ? Math.min(...open) : undefined;
}

/**
 * Returns when an offline host may have started its handover, or undefined if it cannot have started. A host that
 * lacked only the image starts as soon as it has that, and may lose its link before it can report. A host outside its
 * window may start in the next window, and a host with an update lock when the lock expires.
 */
export function earliestHandoverStart(facts: NodeFacts): number | undefined {
  const { waitReason, waitingSince = 0, awaySince = 0, holdEndsAt, handoverWindows } = facts;
  if (facts.updateState !== 'handedOver' || facts.isOutdated) return undefined;
  if (waitReason === undefined || waitReason === 'ImageNotPulled') return awaySince;
  if (waitReason === 'OutsideWindow')
    return handoverWindows && firstWithin(handoverWindows, Math.max(awaySince, waitingSince));
  if (waitReason !== 'UpdateLocked' || holdEndsAt === undefined) return undefined;
  const from = Math.max(awaySince, holdEndsAt);
  return handoverWindows ? firstWithin(handoverWindows, from) : from;
}

function failedCondition(facts: NodeFacts, since: number, { retriedAt }: FailureRules): NodeCondition {
  const { updateState, contact, newPodAt = since, isSkipped } = facts;
  if (isSkipped) return 'skipped';
  if (retriedAt === undefined || newPodAt > retriedAt) return 'failed';
  if (contact === 'lost') return since <= retriedAt ? 'deferred' : 'failed';
  return isNewUnavailable(updateState) ? 'retryPending' : 'none';
}

export function isNewAvailable(state: NodeUpdateState): boolean {
  const parts = partsOf(state);
  return parts.new === true && parts.serves === true;
}

function isNewUnavailable(state: NodeUpdateState): boolean {
  const parts = partsOf(state);
  return parts.new === true && !parts.serves;
}
