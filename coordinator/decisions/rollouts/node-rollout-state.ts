/** The state of one node in a rollout by waves. Times are ms since the epoch. */
import { NODE_UPDATE_STATES, type NodeUpdateState, partsOf } from '../daemonsets/rolling-update.js';
import type { NodeFacts } from './node-rollout-facts.js';

/**
 * What keeps a node from being judged by its Pods alone. At most one applies.
 * `deferred`: the host was offline before its update started; it follows when it returns. `deferredHandover`: the
 * host is offline and may have started its handover, but the policy has no failure budget. `failed`: the host
 * received the revision and is not well. `retryPending`: it failed before a retry and gets another Pod.
 * `staleFailed`: the current revision is barred and the Pod is of an earlier barred revision.
 * `awaitingResync`: the host was connected, but has not reported since the coordinator started.
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

/** Interned: equal states are the same object, so that they can be compared by identity and used as Map keys. */
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

/** Whether the node's Pods still decide its state. The other conditions replace the judgement of the Pods. */
function isJudgedByPods({ condition }: NodeRolloutState): boolean {
  return (
    condition === 'none' ||
    condition === 'staleFailed' ||
    condition === 'awaitingResync' ||
    condition === 'outOfWindow'
  );
}

/** True for a node that was set aside before its update, whatever Pod it has. */
function isSetAside({ condition }: NodeRolloutState): boolean {
  return condition === 'skipped' || isDeferred({ condition });
}

export function isDeferred({ condition }: Pick<NodeRolloutState, 'condition'>): boolean {
  return condition === 'deferred' || condition === 'deferredHandover';
}

/** Whether the node counts as one with a Pod of an older revision. */
export function hasOldPod(state: NodeRolloutState): boolean {
  return isSetAside(state) || (isJudgedByPods(state) && partsOf(state.pods).old === true);
}

/** Whether the node may hold a Pod that a rollback has to remove. */
export function mayHoldBarredPod(state: NodeRolloutState): boolean {
  const { pods, condition } = state;
  if (condition === 'failed' || condition === 'retryPending' || condition === 'staleFailed') return true;
  return !isSetAside(state) && (partsOf(pods).new === true || pods === 'awaitingResync');
}

/** Whether the node's Pod is being replaced now. */
export function isInProgress({ pods, condition }: NodeRolloutState): boolean {
  if (condition !== 'none') return condition === 'retryPending';
  return (
    pods === 'handedOver' ||
    pods === 'inProgress' ||
    pods === 'empty' ||
    (partsOf(pods).new === true && pods !== 'newAvailable')
  );
}

/** Whether the node's update has not started, for any reason but being set aside. */
export function isPending(state: NodeRolloutState): boolean {
  return isJudgedByPods(state) && partsOf(state.pods).pending === true;
}

/** Whether the node's update waits for its maintenance window. */
export function awaitsWindow({ pods, condition }: NodeRolloutState): boolean {
  return condition === 'outOfWindow' && !partsOf(pods).new;
}

export function isUpdated(state: NodeRolloutState): boolean {
  return isJudgedByPods(state) && state.pods === 'newAvailable';
}

/** Whether the update of the node is not finished, or failed. */
export function isUnfinished(state: NodeRolloutState): boolean {
  return hasOldPod(state) || state.condition === 'failed' || state.condition === 'retryPending';
}

/** Whether upstream's choice counts the node: maxUnavailable is a share of these. */
export function usesBudget({ pods, condition }: NodeRolloutState): boolean {
  if (condition === 'outOfWindow') return !partsOf(pods).retiring;
  return condition !== 'deferred' && condition !== 'failed' && condition !== 'skipped';
}

/** Whether the node uses budget, though its update state alone does not show that it may lack an available Pod. */
export function isAlsoUnavailable({ pods, condition }: NodeRolloutState): boolean {
  if (condition === 'retryPending' || condition === 'deferredHandover') return true;
  return (condition === 'awaitingResync' || condition === 'outOfWindow') && pods === 'oldUnavailable';
}

/** Whether an available Pod of the node counts for upstream's choice. */
export function isCovered(state: NodeRolloutState): boolean {
  return isJudgedByPods(state) && usesBudget(state) && partsOf(state.pods).serves === true;
}

/** What a policy calls a failure. */
export interface FailureRules {
  /** How long a new Pod may take; absent: no node fails, it holds its wave, as upstream. */
  deadlineMs?: number;
  /** For how long a failure counts; absent: for good. */
  withinMs?: number;
  /** When the rollout began. */
  startedAt?: number | undefined;
  /** What was not well before is tried again. */
  retriedAt?: number | undefined;
}

/** When a new Pod that is not available, or a host that does not get its image, will have failed; undefined for any other node. */
export function deadlineOf(facts: NodeFacts, { deadlineMs }: FailureRules): number | undefined {
  const { updateState, newPodAt, isConfirming, waitReason, waitingSince, isWithdrawn, isOutdated } = facts;
  const { isAwaitingResync, resyncedAt = Number.NEGATIVE_INFINITY, awaitsPredecessor, startedAt } = facts;
  // Nobody knows how it has done while there was no coordinator, or whether it was told at all.
  if (isAwaitingResync) return undefined;
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

/** Since when a node has failed; undefined: it has not. */
export function failedSince(facts: NodeFacts, now: number, rules: FailureRules): number | undefined {
  const { updateState, contact, lostAt, failureReason, newPodAt } = facts;
  // A host that had only to begin may have cut itself off by it.
  const mayHaveIt = partsOf(updateState).new === true || updateState === 'handedOver';
  if (!mayHaveIt || rules.deadlineMs === undefined) return undefined;
  const hasServed =
    isNewAvailable(updateState) && newPodAt !== undefined && newPodAt < (rules.startedAt ?? newPodAt);
  // How often a Pod was restarted before a rollout came back to its revision says nothing of that.
  if (failureReason !== undefined && !hasServed) return facts.failureReasonSince ?? newPodAt ?? now;
  if (contact === 'lost') return Math.max(lostAt ?? now, earliestHandoverStart(facts) ?? 0);
  const deadline = deadlineOf(facts, { deadlineMs: rules.deadlineMs });
  return deadline !== undefined && deadline <= now ? deadline : undefined;
}

export function nodeRolloutState(facts: NodeFacts, now: number, rules: FailureRules): NodeRolloutState {
  return rolloutState(facts.updateState, conditionOf(facts, now, rules));
}

/**
 * A retiring Pod is updated in its turn like any other, as in upstream's rolling update: it is deleted and has no
 * successor.
 */
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
  // A host that was offline at the start is not awaited: it is as well known as before, and may connect once a day.
  if (facts.isAwaitingResync && contact === 'here' && (isPlainOld || updateState === 'newAvailable'))
    return 'awaitingResync';
  // Like a Pod of the current revision: an available one is replaced in its window, a useless one at any hour.
  if (isStaleFailed && updateState === 'oldUnavailable') return 'staleFailed';
  const hasWindow = (old && pending) || updateState === 'newAvailable' || updateState === 'blocked';
  if (facts.isOutOfWindow && hasWindow) return 'outOfWindow';
  return isStaleFailed && updateState === 'oldAvailable' ? 'staleFailed' : 'none';
}

/** The first moment from then on that lies in a window; undefined: none does. */
function firstWithin(windows: NonNullable<NodeFacts['handoverWindows']>, from: number): number | undefined {
  const open = windows.filter(({ until }) => until > from).map((window) => Math.max(window.from, from));
  return open.length > 0 ? Math.min(...open) : undefined;
}

/**
 * From when on a host out of contact may have begun the turn that it has, as far as was heard; undefined: it cannot. One that
 * lacked the image alone begins in the moment in which it has that, and may have cut itself off by it before its word arrived; so does one of
 * which nothing was heard. One outside its window begins in the next, and who said 'not now' when that holds no longer.
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
