/** Where one node stands in a rollout by waves. */
import type { Contact } from './contact.js';
import type { Situation } from './rolling-update.js';

/** `deferred`: dark since before its turn. `failed`: it took the revision and is not well. Else its situation. */
export type Lane = Situation | 'deferred' | 'failed';

/** What is known of a node and its Pods. Times are ms since the epoch. */
export interface NodeFacts {
  situation: Situation;
  contact: Contact;
  /** What is wrong with the Pod of the current revision. */
  trouble?: string;
  /** When that Pod was made. */
  newPodAt?: number;
}

const BEFORE_ITS_TURN: ReadonlySet<Situation> = new Set(['oldAvailable', 'oldUnavailable', 'empty']);
const AFTER_ITS_TURN: ReadonlySet<Situation> = new Set([
  'newAvailable',
  'newUnavailable',
  'pairAvailable',
  'pairUnavailable',
]);
const NOT_AVAILABLE_YET: ReadonlySet<Situation> = new Set(['newUnavailable', 'pairUnavailable']);
/** Old Pods where the DaemonSet should no longer run: no successor is made, so they are no part of a rollout. */
const NO_PART: ReadonlySet<Situation> = new Set(['retiringAvailable', 'retiringUnavailable']);

/** When a new Pod that is not available will have failed; undefined for any other node. */
export function deadlineOf(
  { situation, newPodAt }: NodeFacts,
  deadlineMs: number | undefined,
): number | undefined {
  if (deadlineMs === undefined || newPodAt === undefined || !NOT_AVAILABLE_YET.has(situation))
    return undefined;
  return newPodAt + deadlineMs;
}

/** Undefined for a node that is no part of the rollout. Without a deadline no node has failed. */
export function laneOf(facts: NodeFacts, now: number, deadlineMs: number | undefined): Lane | undefined {
  const { situation, contact, trouble } = facts;
  if (NO_PART.has(situation)) return undefined;
  if (contact !== 'here' && BEFORE_ITS_TURN.has(situation)) return 'deferred';
  if (!AFTER_ITS_TURN.has(situation) || deadlineMs === undefined) return situation;
  const isLate = (deadlineOf(facts, deadlineMs) ?? Number.POSITIVE_INFINITY) <= now;
  return contact === 'lost' || trouble !== undefined || isLate ? 'failed' : situation;
}
