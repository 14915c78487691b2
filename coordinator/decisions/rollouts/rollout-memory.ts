/** What a rollout remembers between two looks: how it begins, and what people's requests do to it. */

import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutCounts, SteeringStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import type { SteeringRequest } from '../../../shared/kube/rollouts/steering-requests.js';
import {
  appliesTo,
  forNextRevision,
  lastRequestText,
  NO_STEERING,
  newRequests,
  withRequest,
} from './steering-state.js';

/** Times are ms since the epoch. */
export interface RolloutMemory {
  revision: string;
  /** Index of the last open wave; -1 = none yet. */
  wave: number;
  startedAt: number;
  soakingSince?: number;
  completedAt?: number;
  /** Since completion nobody is left to follow: what fails from now on is not this rollout's. */
  caughtUp?: boolean;
  /** Why the revision failed: it stays barred. With `completedAt`: from those alone that have yet to follow. */
  failure?: string;
  /** A person barred it. */
  aborted?: boolean;
  /** All that had it have gone back: who turns out to have it later follows them, and nothing fails anew. */
  rolledBack?: boolean;
  /** Pods that were made earlier are no failures of this attempt. */
  retriedAt?: number;
  /** The last revision that was completed, of those before this one. */
  stable?: string;
  /** This one was completed by an earlier rollout, and none has been since: those of the next have it to go back to. */
  wasStable?: boolean;
  steering?: SteeringStatus;
}

export interface WaveCounts extends RolloutCounts {
  /** Nodes that hold a Pod of another revision. */
  old: number;
  /** Nodes that hold one of this revision. */
  onRevision: number;
  /** Of the old and of the updated ones: nodes that have not been heard since the coordinator's start. */
  awaitingResync: number;
  awaitingResyncUpdated: number;
  /** Failed nodes that the budget counts. */
  failures: number;
  /** Those of them that took the revision after completion. */
  lateFailures: number;
}

/** What a look at a rollout is taken at. */
export interface RolloutInput {
  spec: RolloutPolicySpec;
  /** Hash of the current revision. */
  revision: string;
  /** Absent before the first look. */
  memory?: RolloutMemory | undefined;
  /** The revision before this one, as the history has it: what is stable where nothing is remembered. */
  previous?: string | undefined;
  /** Whether Pods can be made of the revision of this hash; absent: of all. */
  isKept?: ((hash: string) => boolean) | undefined;
  /** In the order of `waveNames`. */
  waves: readonly WaveCounts[];
  /** What people asked for; those that were taken in already do no harm. */
  requests?: readonly SteeringRequest[] | undefined;
  /** ms since the epoch. */
  now: number;
}

/** Of all waves, or of some. */
export function sum(waves: readonly WaveCounts[], key: keyof WaveCounts): number {
  return waves.reduce((total, wave) => total + wave[key], 0);
}

/** Nodes of the wave that are neither done, nor failed, nor out of reach, nor taken out. */
export function outstanding({ nodes, updated, failed, deferred, skipped }: WaveCounts): number {
  return nodes - updated - failed - deferred - skipped;
}

/** The memory of the revision on its way, with all requests taken in. */
export function updateMemory(input: RolloutInput): RolloutMemory {
  const memory = memoryOfRevision({
    ...input,
    memory: input.memory && withoutTimesAhead(input.memory, input.now),
  });
  const requests = newRequests(memory.steering ?? NO_STEERING, input.requests);
  return requests.reduce((state, request) => asked(state, request, input.now), memory);
}

/**
 * The memory without times that lie ahead, as they do when the clock was set back while there was no coordinator: they would
 * judge what comes by what was before. Pods whose times lie ahead count from now as well: they are then from after its beginning,
 * and from before it was completed or tried again.
 */
function withoutTimesAhead(memory: RolloutMemory, now: number): RolloutMemory {
  const second = Math.floor(now / 1000) * 1000;
  const { startedAt, completedAt, retriedAt } = memory;
  return {
    ...memory,
    startedAt: startedAt > now ? second : startedAt,
    ...(completedAt !== undefined && { completedAt: Math.min(completedAt, second + 1000) }),
    ...(retriedAt !== undefined && { retriedAt: Math.min(retriedAt, second + 1000) }),
  };
}

/** A DaemonSet's first revision has nothing to replace, and one that is everywhere nothing left. */
function memoryOfRevision({ memory, previous, revision, waves, now }: RolloutInput): RolloutMemory {
  if (memory?.revision === revision) return memory;
  const stable = memory ? stableAfter(memory) : previous;
  const kept = stable === undefined ? {} : stable === revision ? { wasStable: true } : { stable };
  const steering = memory?.steering ? { steering: forNextRevision(memory.steering) } : {};
  const fresh = { revision, wave: -1, startedAt: now, ...kept, ...steering };
  const isFirst = memory === undefined && previous === undefined;
  // A node that is under way may hold an old Pod: what is not seen is not done.
  const isEverywhere = sum(waves, 'old') === 0 && waves.every((wave) => outstanding(wave) === 0);
  const isDone = isFirst || isEverywhere;
  return isDone ? { ...fresh, wave: waves.length - 1, completedAt: now, caughtUp: true } : fresh;
}

/** What is stable when another revision comes. */
function stableAfter({ completedAt, wasStable, revision, stable }: RolloutMemory): string | undefined {
  return completedAt !== undefined || wasStable ? revision : stable;
}

function asked(memory: RolloutMemory, request: SteeringRequest, now: number): RolloutMemory {
  const steering = withRequest(memory.steering ?? NO_STEERING, request, memory.revision);
  const next = { ...memory, steering };
  if (!appliesTo(request, memory.revision)) return next;
  if (request.verb === 'abort') return aborted(next);
  if (request.verb === 'retry' && memory.failure !== undefined) return retried(next, now);
  return next;
}

/** Also what was completed, or has failed already, can be taken back. */
function aborted(memory: RolloutMemory): RolloutMemory {
  const { soakingSince: _soak, completedAt: _completed, caughtUp: _caughtUp, wasStable: _, ...rest } = memory;
  const failure = `aborted${lastRequestText(memory.steering ?? NO_STEERING, 'abort')}`;
  return { ...rest, failure, aborted: true };
}

/** From the first wave on, with new approvals; where only those that follow late had failed, with these alone. */
function retried(memory: RolloutMemory, now: number): RolloutMemory {
  const { failure: _failure, aborted: _aborted, rolledBack: _, soakingSince: _soak, ...rest } = memory;
  // As stored times are: in whole seconds.
  const retriedAt = Math.floor(now / 1000) * 1000;
  if (memory.completedAt !== undefined) return { ...rest, retriedAt };
  const { approved: _approved, promoted: _promoted, ...steering } = memory.steering ?? NO_STEERING;
  return { ...rest, steering, wave: -1, startedAt: now, retriedAt };
}
