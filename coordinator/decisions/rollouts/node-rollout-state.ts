/** Where one node stands in a rollout by waves. Times are ms since the epoch. */
import type { HandoverBlockReason } from '../../../shared/kube/handovers/host-handover.js';
import { NODE_UPDATE_STATES, type NodeUpdateState } from '../daemonsets/rolling-update.js';
import type { NodeContact } from '../nodes/node-contact.js';

/**
 * A node's situation, or what keeps it from being judged by that alone: `deferred`: dark since before its turn. `deferredHandover`:
 * the same, though it may have begun its turn, where no host counts as failed.
 * `failed`: it took the revision and is not well. `again`: it is not well since before a retry, and gets another Pod.
 * `skipped`: a person took it out. `stray…`: the revision on its way is barred, and its Pod is of an earlier one that was barred, too: it
 * began that in the dark. `awaited…`: it was in contact, and since the coordinator's start it has not been heard; its Pod is
 * old (and available or not) or updated, as far as is known. `outside…`: its window is closed; its Pod is old (and available or
 * not), updated, or where none belongs any more; or it is to have its first.
 */
export const NODE_ROLLOUT_STATES = [
  ...NODE_UPDATE_STATES,
  'deferred',
  'deferredHandover',
  'failed',
  'again',
  'skipped',
  'staleFailedAvailable',
  'staleFailedUnavailable',
  'awaitingResyncAvailable',
  'awaitingResyncUnavailable',
  'awaitingResyncUpdated',
  'outOfWindowAvailable',
  'outOfWindowUnavailable',
  'outOfWindowUpdated',
  'outOfWindowRetiring',
  'outOfWindowBlocked',
] as const;

/** One of `LANES`. */
export type NodeRolloutState = (typeof NODE_ROLLOUT_STATES)[number];

/** What is known of a node and its Pods. */
export interface NodeFacts {
  updateState: NodeUpdateState;
  contact: NodeContact;
  /** Since when the link to its agent is down. */
  awaySince?: number;
  /** Since when nobody knows the node's state. */
  lostAt?: number;
  /** The coordinator has started, and has yet to hear of it. */
  isAwaitingResync?: boolean;
  /** When it was heard first after that: no time of its own counts from before. */
  heardAt?: number;
  /** What is wrong with the Pod of the current revision, and since when. */
  failureReason?: string;
  failureReasonSince?: number;
  /** When that Pod was made. */
  newPodAt?: number;
  /** When its host could begin with it, where that is known. */
  startedAt?: number;
  /** It may not begin yet: its host has to end the Pod before it. */
  awaitsPredecessor?: boolean;
  /** When that one should have ended at the latest, where that is known: a host whose engine hangs is late from then on. */
  predecessorEndsBy?: number;
  /** Its host has yet to confirm it, and will, or go back. */
  isConfirming?: boolean;
  /** When the Pod of an older revision was made. */
  oldPodAt?: number;
  /** Its revision. */
  oldHash?: string;
  /** False: Pods name the node, and there is none. */
  exists?: boolean;
  /** The host was given its turn and has said why it waits. */
  waitReason?: HandoverBlockReason;
  /** Since when it has waited at all. */
  waitingSince?: number;
  /** When its turn may begin; absent: at any time. */
  handoverWindows?: readonly { from: number; until: number }[];
  /** When its 'not now' holds no longer. */
  holdEndsAt?: number;
  /** Its turn was taken back, and it has not said so far that it knows. */
  isWithdrawn?: boolean;
  /** Its turn is to something that is not wanted there any more. */
  isOutdated?: boolean;
  /** No Pod may be replaced there now. */
  isOutOfWindow?: boolean;
  /** A person took it out. */
  isSkipped?: boolean;
  /** The rollout has failed, and so had the one of the revision that it has. */
  isStaleFailed?: boolean;
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

/** Situations of nodes that keep an older Pod, or are about to get one again, or their first. */
export const BEFORE_UPDATE_STATES: ReadonlySet<NodeUpdateState> = new Set([
  'oldAvailable',
  'oldUnavailable',
  'retiringAvailable',
  'retiringUnavailable',
  'empty',
  'unheard',
  'withheld',
]);
const AFTER_ITS_TURN: ReadonlySet<NodeUpdateState> = new Set([
  'newAvailable',
  'newUnavailable',
  'pairAvailable',
  'pairUnavailable',
]);
/** With a Pod of the revision that is available. */
export const AVAILABLE_STATES: ReadonlySet<NodeUpdateState> = new Set(['newAvailable', 'pairAvailable']);
const NOT_AVAILABLE_YET: ReadonlySet<NodeUpdateState> = new Set(['newUnavailable', 'pairUnavailable']);
const OUTSIDE: Readonly<Partial<Record<NodeUpdateState, NodeRolloutState>>> = {
  oldAvailable: 'outOfWindowAvailable',
  oldUnavailable: 'outOfWindowUnavailable',
  newAvailable: 'outOfWindowUpdated',
  retiringAvailable: 'outOfWindowRetiring',
  retiringUnavailable: 'outOfWindowRetiring',
  withheld: 'outOfWindowBlocked',
};

const AWAITED: Readonly<Partial<Record<NodeUpdateState, NodeRolloutState>>> = {
  oldAvailable: 'awaitingResyncAvailable',
  oldUnavailable: 'awaitingResyncUnavailable',
  newAvailable: 'awaitingResyncUpdated',
};

/** When a new Pod that is not available, or a host that does not get its image, will have failed; undefined for any other node. */
export function deadlineOf(facts: NodeFacts, { deadlineMs }: FailureRules): number | undefined {
  const {
    updateState: situation,
    newPodAt,
    isConfirming,
    waitReason: waiting,
    waitingSince,
    isWithdrawn,
    isOutdated,
  } = facts;
  const {
    isAwaitingResync,
    heardAt = Number.NEGATIVE_INFINITY,
    awaitsPredecessor: isHeldUp,
    startedAt,
    predecessorEndsBy,
  } = facts;
  // Nobody knows how it has done while there was no coordinator, or whether it was told at all.
  if (isAwaitingResync) return undefined;
  const isWanted = !isWithdrawn && !isOutdated;
  const isStuck = waiting === 'ImageNotPulled' || waiting === 'InsufficientResources';
  if (situation === 'turned' && isWanted && isStuck && waitingSince !== undefined) {
    return deadlineMs === undefined ? undefined : Math.max(waitingSince, heardAt) + deadlineMs;
  }
  const couldBeginAt = isHeldUp ? predecessorEndsBy : (startedAt ?? newPodAt);
  if (isConfirming || couldBeginAt === undefined) return undefined;
  if (deadlineMs === undefined || newPodAt === undefined || !NOT_AVAILABLE_YET.has(situation))
    return undefined;
  return Math.max(newPodAt, couldBeginAt, heardAt) + deadlineMs;
}

/** Since when a node has failed; undefined: it has not. */
export function failedSince(facts: NodeFacts, now: number, rules: FailureRules): number | undefined {
  const {
    updateState: situation,
    contact,
    lostAt,
    failureReason: trouble,
    failureReasonSince: troubleAt,
    newPodAt,
  } = facts;
  // A host that had only to begin may have cut itself off by it.
  const mayHaveIt = AFTER_ITS_TURN.has(situation) || situation === 'turned';
  if (!mayHaveIt || rules.deadlineMs === undefined) return undefined;
  const hasServed =
    AVAILABLE_STATES.has(situation) && newPodAt !== undefined && newPodAt < (rules.startedAt ?? newPodAt);
  // How often a Pod was restarted before a rollout came back to its revision says nothing of that.
  if (trouble !== undefined && !hasServed) return troubleAt ?? newPodAt ?? now;
  if (contact === 'lost') return Math.max(lostAt ?? now, earliestHandoverStart(facts) ?? 0);
  const deadline = deadlineOf(facts, { deadlineMs: rules.deadlineMs });
  return deadline !== undefined && deadline <= now ? deadline : undefined;
}

/**
 * Old Pods where the DaemonSet should no longer run have their turn like others, as upstream's rolling update takes them: they go,
 * and no successor comes.
 */
export function nodeRolloutState(facts: NodeFacts, now: number, rules: FailureRules): NodeRolloutState {
  const {
    updateState: situation,
    contact,
    isSkipped,
    isOutOfWindow: isOutside,
    isAwaitingResync,
    isStaleFailed: isStray,
  } = facts;
  if (situation === 'turned' && contact !== 'here') {
    if ((earliestHandoverStart(facts) ?? Number.POSITIVE_INFINITY) > now) return 'deferred';
    if (rules.deadlineMs === undefined) return 'deferredHandover';
  }
  if (BEFORE_UPDATE_STATES.has(situation)) {
    if (isSkipped) return 'skipped';
    if (contact !== 'here') return 'deferred';
  }
  const since = failedSince(facts, now, rules);
  if (since !== undefined) return failedLane(facts, since, rules);
  // One that was away already is no less known than before the start, and may call home once a day.
  const awaited = isAwaitingResync && contact === 'here' ? AWAITED[situation] : undefined;
  if (awaited) return awaited;
  // As one of the revision on its way: what is of use goes in its window, what is not at any hour.
  if (isStray && situation === 'oldUnavailable') return 'staleFailedUnavailable';
  const outside = isOutside ? OUTSIDE[situation] : undefined;
  return outside ?? (isStray && situation === 'oldAvailable' ? 'staleFailedAvailable' : situation);
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
  const {
    updateState: situation,
    waitReason: waiting,
    waitingSince = 0,
    isOutdated,
    awaySince = 0,
    holdEndsAt,
    handoverWindows: turnWindows,
  } = facts;
  if (situation !== 'turned' || isOutdated) return undefined;
  if (waiting === undefined || waiting === 'ImageNotPulled') return awaySince;
  if (waiting === 'OutsideWindow')
    return turnWindows && firstWithin(turnWindows, Math.max(awaySince, waitingSince));
  if (waiting !== 'UpdateLocked' || holdEndsAt === undefined) return undefined;
  const from = Math.max(awaySince, holdEndsAt);
  return turnWindows ? firstWithin(turnWindows, from) : from;
}

function failedLane(facts: NodeFacts, since: number, { retriedAt }: FailureRules): NodeRolloutState {
  const { updateState: situation, contact, newPodAt = since, isSkipped } = facts;
  if (isSkipped) return 'skipped';
  if (retriedAt === undefined || newPodAt > retriedAt) return 'failed';
  if (contact === 'lost') return since <= retriedAt ? 'deferred' : 'failed';
  return NOT_AVAILABLE_YET.has(situation) ? 'again' : situation;
}
