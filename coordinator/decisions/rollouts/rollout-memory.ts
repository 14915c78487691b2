/** The state of a rollout between two reconciles: how it starts, and how operators' requests change it. */

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
  /** Index of the last open wave. -1: none. */
  wave: number;
  startedAt: number;
  soakingSince?: number;
  completedAt?: number;
  /** After completion, all hosts have been updated. Later failures do not count for this rollout. */
  caughtUp?: boolean;
  /** Why the revision is barred. With `completedAt`: only hosts that were not updated yet are kept from it. */
  failure?: string;
  /** An operator barred the revision. */
  aborted?: boolean;
  /** All hosts that had the revision have rolled back. Hosts that are found with it later roll back too. */
  rolledBack?: boolean;
  /** Pods that were created earlier do not count as failures of this attempt. */
  retriedAt?: number;
  /** The last revision before this one that was completed. */
  stable?: string;
  /**
   * An earlier rollout completed this revision and none was completed since. The next rollout would roll back to it.
   */
  wasStable?: boolean;
  steering?: SteeringStatus;
}

export interface WaveCounts extends RolloutCounts {
  /** Nodes with a Pod of another revision. */
  old: number;
  /** Nodes with a Pod of this revision, or of another one that has to be rolled back with it. */
  onRevision: number;
  /** Nodes with an old Pod that have not reported since the coordinator started, and updated ones likewise. */
  awaitingResync: number;
  awaitingResyncUpdated: number;
  /** Failed nodes that the failure budget counts. */
  failures: number;
  /** Nodes of `failures` that received the revision after completion. */
  lateFailures: number;
}

export interface RolloutInput {
  spec: RolloutPolicySpec;
  /** Hash of the current revision. */
  revision: string;
  /** Absent before the first reconcile. */
  memory?: RolloutMemory | undefined;
  /** The revision before this one in the history. It is the stable one if there is no memory. */
  previous?: string | undefined;
  /**
   * Returns true if Pods can be made of this revision, because its ControllerRevision exists. Absent: of all revisions.
   */
  isKept?: ((hash: string) => boolean) | undefined;
  /** In the order of `waveNames`. */
  waves: readonly WaveCounts[];
  /** The requests of operators. Requests that were applied before have no effect. */
  requests?: readonly SteeringRequest[] | undefined;
  /** In ms since the epoch. */
  now: number;
}

export function sum(waves: readonly WaveCounts[], key: keyof WaveCounts): number {
  return waves.reduce((total, wave) => total + wave[key], 0);
}

/** Returns how many nodes of the wave are not updated, failed, deferred or skipped. */
export function outstanding({ nodes, updated, failed, deferred, skipped }: WaveCounts): number {
  return nodes - updated - failed - deferred - skipped;
}

/** Returns the memory for the current revision, with all requests applied. */
export function updateMemory(input: RolloutInput): RolloutMemory {
  const memory = memoryOfRevision({
    ...input,
    memory: input.memory && withoutTimesAhead(input.memory, input.now),
  });
  const requests = newRequests(memory.steering ?? NO_STEERING, input.requests);
  return requests.reduce((state, request) => asked(state, request, input.now), memory);
}

/**
 * Corrects future times, which remain if the clock was set back while the coordinator was down. Otherwise new events
 * would look older than the rollout. Pods with future times count from now too, so they are newer than the rollout's
 * start and older than its completion or retry.
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

/** A rollout is complete at once if it is the DaemonSet's first, or if all nodes have its revision already. */
function memoryOfRevision({ memory, previous, revision, waves, now }: RolloutInput): RolloutMemory {
  if (memory?.revision === revision) return memory;
  const stable = memory ? stableAfter(memory) : previous;
  const kept = stable === undefined ? {} : stable === revision ? { wasStable: true } : { stable };
  const steering = memory?.steering ? { steering: forNextRevision(memory.steering) } : {};
  const fresh = { revision, wave: -1, startedAt: now, ...kept, ...steering };
  const isFirst = memory === undefined && previous === undefined;
  // A node whose action is in progress may have an old Pod, so it does not count as updated.
  const isEverywhere = sum(waves, 'old') === 0 && waves.every((wave) => outstanding(wave) === 0);
  const isDone = isFirst || isEverywhere;
  return isDone ? { ...fresh, wave: waves.length - 1, completedAt: now, caughtUp: true } : fresh;
}

/** Returns the stable revision for the rollout of the next one. */
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

/** A completed or failed rollout can be aborted too. */
function aborted(memory: RolloutMemory): RolloutMemory {
  const { soakingSince: _soak, completedAt: _completed, caughtUp: _caughtUp, wasStable: _, ...rest } = memory;
  const failure = `aborted${lastRequestText(memory.steering ?? NO_STEERING, 'abort')}`;
  return { ...rest, failure, aborted: true };
}

/**
 * Restarts at the first wave with new approvals. If only hosts failed that were updated after completion, only these
 * restart.
 */
function retried(memory: RolloutMemory, now: number): RolloutMemory {
  const { failure: _failure, aborted: _aborted, rolledBack: _, soakingSince: _soak, ...rest } = memory;
  // Like stored times: whole seconds.
  const retriedAt = Math.floor(now / 1000) * 1000;
  if (memory.completedAt !== undefined) return { ...rest, retriedAt };
  const { approved: _approved, promoted: _promoted, ...steering } = memory.steering ?? NO_STEERING;
  return { ...rest, steering, wave: -1, startedAt: now, retriedAt };
}
