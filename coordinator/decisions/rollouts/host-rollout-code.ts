/** The reason code of one host in a rollout by waves. */
import type { HandoverBlockReason } from '../../../shared/kube/handovers/host-handover.js';
import type { RolloutReasonCode } from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import type { RolloutPhase } from '../../../shared/kube/rollouts/rollout-types.js';
import type { NodeFacts } from './node-rollout-facts.js';
import {
  awaitsWindow,
  isDeferred,
  isPending,
  isUpdated,
  type NodeRolloutState,
} from './node-rollout-state.js';

/** The wave and state of one host. */
export interface HostRolloutState {
  /** Index of its wave. */
  wave: number;
  state: NodeRolloutState;
  detail?: HostDetail;
}

/**
 * `Restored`: the host got its earlier revision back during this rollout. `FailedBefore`: it got that back after it had
 * failed with the new one. `Withdrawn`: its handover was withdrawn. Others: why it has not started its handover.
 */
type HostDetail = 'Restored' | 'FailedBefore' | 'Withdrawn' | HandoverBlockReason;

/** The parts of a rollout's history that `rolloutDetail` needs. `startedAt`: ms since the epoch. */
interface RolloutHistory {
  startedAt: number | undefined;
  /** Why the revision is barred. */
  failure: string | undefined;
  hasFailed: boolean;
  /** The host has had a Pod of the revision, as far as is known. */
  hasReceived: boolean;
}

/** Returns what distinguishes a host from others in the same state, or undefined. */
export function rolloutDetail(
  state: NodeRolloutState,
  { oldPodAt, waitReason, isWithdrawn, isOutdated }: NodeFacts,
  { startedAt, failure, hasFailed, hasReceived }: RolloutHistory,
): HostDetail | undefined {
  if (state.condition === 'none' && state.pods === 'handedOver')
    return isWithdrawn || isOutdated ? 'Withdrawn' : waitReason;
  if (!isPending(state) || failure === undefined || startedAt === undefined) return undefined;
  if (hasFailed) return 'FailedBefore';
  // Stored times are whole seconds, so they do not order events within one second.
  const isRestored = oldPodAt !== undefined && (hasReceived || oldPodAt > startedAt);
  return isRestored ? 'Restored' : undefined;
}

/** The parts of `judgeRollout`'s verdict that a reason code depends on. */
export interface RolloutPhaseInfo {
  phase: RolloutPhase;
  /** Index of the last open wave. -1: none. */
  wave: number;
  /** No host may start its update now. */
  isHalted: boolean;
  isBarred: boolean;
  /** Hosts that have the revision roll back. */
  isReverting: boolean;
}

/** `host`: undefined if the host is not part of the rollout. Hosts in the same state have the same code. */
export function rolloutCode(
  host: HostRolloutState | undefined,
  rollout: RolloutPhaseInfo,
): RolloutReasonCode {
  if (!host) return 'NotEligible';
  const { state, detail } = host;
  const { pods, condition } = state;
  if (isDeferred(state)) return 'DeferredOffline';
  if (condition === 'skipped') return 'Skipped';
  const rollsBack = rollout.isBarred && (rollout.isReverting || rollout.phase === 'RolledBack');
  const isEmpty = condition === 'none' && pods === 'empty';
  if (rollsBack && (isEmpty || condition === 'staleFailed')) return 'RollingBack';
  if (isPending(state) || detail === 'Withdrawn') return holdCode(host, rollout);
  const isWaiting = condition === 'none' && pods === 'handedOver';
  if (isWaiting && detail && detail !== 'Restored' && detail !== 'FailedBefore') return detail;
  if (rollsBack) return 'RollingBack';
  if (condition === 'failed') return 'Failed';
  if (!isUpdated(state)) return 'Updating';
  return rollout.phase === 'Soaking' && host.wave === rollout.wave ? 'Soaking' : 'Updated';
}

/** `unresolved`: the explanation names the missing value. */
const PENDING_CREATE: ReadonlySet<string> = new Set(['empty', 'blocked', 'unresolved']);

/** Why the update of a host has not started. */
function holdCode({ wave, detail, state }: HostRolloutState, rollout: RolloutPhaseInfo): RolloutReasonCode {
  const { phase } = rollout;
  const { pods, condition } = state;
  if (rollout.isBarred && detail === 'FailedBefore') return 'Failed';
  if (rollout.isBarred) return detail === 'Restored' ? 'Reverted' : 'RolloutFailed';
  if (phase === 'Frozen') return 'Frozen';
  if (phase === 'Paused') return 'RolloutPaused';
  const isOpen = wave <= rollout.wave;
  if (isOpen && condition === 'none' && PENDING_CREATE.has(pods)) return 'Updating';
  if (isOpen && phase === 'Completed' && rollout.isHalted) return 'RolloutPaused';
  if (isOpen && condition === 'awaitingResync') return 'AwaitingResync';
  if (isOpen) return awaitsWindow(state) ? 'OutsideWindow' : 'Budget';
  return phase === 'AwaitingApproval' && wave === rollout.wave + 1 ? 'WaitingForApproval' : 'WaitingForWave';
}
