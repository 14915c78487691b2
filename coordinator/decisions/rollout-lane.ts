/** Where one node stands in a rollout by waves. Times are ms since the epoch. */
import type { TurnWait } from '../../shared/kube/host-turn.js';
import type { Contact } from './contact.js';
import { SITUATIONS, type Situation } from './rolling-update.js';

/**
 * A node's situation, or what keeps it from being judged by that alone: `deferred`: dark since before its turn.
 * `failed`: it took the revision and is not well. `again`: it is not well since before a retry, and gets another Pod.
 * `skipped`: a person took it out. `outside…`: its window is closed; its Pod is old (and available or not), updated, or
 * where none belongs any more; or it is to have its first.
 */
export const LANES = [
  ...SITUATIONS,
  'deferred',
  'failed',
  'again',
  'skipped',
  'outsideAvailable',
  'outsideUnavailable',
  'outsideUpdated',
  'outsideRetiring',
  'outsideWithheld',
] as const;

/** One of `LANES`. */
export type Lane = (typeof LANES)[number];

/** What is known of a node and its Pods. */
export interface NodeFacts {
  situation: Situation;
  contact: Contact;
  /** Since when nobody knows the node's state. */
  lostAt?: number;
  /** What is wrong with the Pod of the current revision, and since when. */
  trouble?: string;
  troubleAt?: number;
  /** When that Pod was made. */
  newPodAt?: number;
  /** Its host has yet to confirm it, and will, or go back. */
  isConfirming?: boolean;
  /** When the Pod of an older revision was made. */
  oldPodAt?: number;
  /** False: Pods name the node, and there is none. */
  exists?: boolean;
  /** The host was given its turn and has said why it waits. */
  waiting?: TurnWait;
  /** Since when it has waited at all. */
  waitingSince?: number;
  /** Its turn was taken back, and it has not said so far that it knows. */
  isWithdrawn?: boolean;
  /** Its turn is to something that is not wanted there any more. */
  isOutdated?: boolean;
  /** No Pod may be replaced there now. */
  isOutside?: boolean;
  /** A person took it out. */
  isSkipped?: boolean;
}

/** What a policy calls a failure. */
export interface LaneRules {
  /** How long a new Pod may take; absent: no node fails, it holds its wave, as upstream. */
  deadlineMs?: number;
  /** For how long a failure counts; absent: for good. */
  withinMs?: number;
  /** What was not well before is tried again. */
  retriedAt?: number;
}

/** Situations of nodes that keep an older Pod, or are about to get one again, or their first. */
export const BEFORE_ITS_TURN: ReadonlySet<Situation> = new Set([
  'oldAvailable',
  'oldUnavailable',
  'retiringAvailable',
  'retiringUnavailable',
  'empty',
  'unheard',
  'withheld',
]);
const AFTER_ITS_TURN: ReadonlySet<Situation> = new Set([
  'newAvailable',
  'newUnavailable',
  'pairAvailable',
  'pairUnavailable',
]);
const NOT_AVAILABLE_YET: ReadonlySet<Situation> = new Set(['newUnavailable', 'pairUnavailable']);
const OUTSIDE: Readonly<Partial<Record<Situation, Lane>>> = {
  oldAvailable: 'outsideAvailable',
  oldUnavailable: 'outsideUnavailable',
  newAvailable: 'outsideUpdated',
  retiringAvailable: 'outsideRetiring',
  retiringUnavailable: 'outsideRetiring',
  withheld: 'outsideWithheld',
};

/** When a new Pod that is not available, or a host that does not get its image, will have failed; undefined for any other node. */
export function deadlineOf(
  { situation, newPodAt, isConfirming, waiting, waitingSince, isWithdrawn, isOutdated }: NodeFacts,
  { deadlineMs, retriedAt }: LaneRules,
): number | undefined {
  const isWanted = !isWithdrawn && !isOutdated;
  const isStuck = waiting === 'ImageNotPulled' || waiting === 'NoRoom';
  if (situation === 'turned' && isWanted && isStuck && waitingSince !== undefined) {
    return deadlineMs === undefined ? undefined : waitingSince + deadlineMs;
  }
  if (isConfirming) return undefined;
  if (deadlineMs === undefined || newPodAt === undefined || !NOT_AVAILABLE_YET.has(situation))
    return undefined;
  // A Pod from before a retry is on its way out.
  return newPodAt <= (retriedAt ?? Number.NEGATIVE_INFINITY) ? undefined : newPodAt + deadlineMs;
}

/** Since when a node has failed; undefined: it has not. */
export function failedSince(facts: NodeFacts, now: number, rules: LaneRules): number | undefined {
  const { situation, contact, lostAt, trouble, troubleAt, newPodAt } = facts;
  // A host that had only to begin may have cut itself off by it.
  const mayHaveIt = AFTER_ITS_TURN.has(situation) || situation === 'turned';
  if (!mayHaveIt || rules.deadlineMs === undefined) return undefined;
  if (trouble !== undefined) return troubleAt ?? newPodAt ?? now;
  if (contact === 'lost') return lostAt ?? now;
  const deadline = deadlineOf(facts, { deadlineMs: rules.deadlineMs });
  return deadline !== undefined && deadline <= now ? deadline : undefined;
}

/**
 * Old Pods where the DaemonSet should no longer run have their turn like others, as upstream's rolling update takes them: they go,
 * and no successor comes.
 */
export function laneOf(facts: NodeFacts, now: number, rules: LaneRules): Lane {
  const { situation, contact, isSkipped, isOutside } = facts;
  if (situation === 'turned' && contact !== 'here' && isStillToWait(facts)) return 'deferred';
  if (BEFORE_ITS_TURN.has(situation)) {
    if (isSkipped) return 'skipped';
    if (contact !== 'here') return 'deferred';
  }
  const since = failedSince(facts, now, rules);
  if (since !== undefined) return failedLane(facts, since, rules);
  return (isOutside ? OUTSIDE[situation] : undefined) ?? situation;
}

/**
 * As if its turn had not come, as far as was heard. Not so one that lacked the image alone: it begins in the moment in which it has
 * that, and may have cut itself off by it before its word arrived.
 */
function isStillToWait({ waiting, isOutdated }: NodeFacts): boolean {
  return isOutdated === true || (waiting !== undefined && waiting !== 'ImageNotPulled');
}

function failedLane(facts: NodeFacts, since: number, { retriedAt }: LaneRules): Lane {
  const { situation, contact, newPodAt = since, isSkipped } = facts;
  if (isSkipped) return 'skipped';
  if (retriedAt === undefined || newPodAt > retriedAt) return 'failed';
  if (contact === 'lost') return since <= retriedAt ? 'deferred' : 'failed';
  return NOT_AVAILABLE_YET.has(situation) ? 'again' : situation;
}
