/** The one reason code of a host in a rollout by waves: how it has fared, or what it waits for. */
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

/** Where one host stands. */
export interface HostRolloutState {
  /** Index of its wave. */
  wave: number;
  state: NodeRolloutState;
  detail?: HostDetail;
}

/**
 * What sets hosts of one lane apart: given the earlier revision while this rollout ran (`FailedBefore`: after it failed with the
 * new one), why the host has not begun its turn, or that it was taken back.
 */
type HostDetail = 'Restored' | 'FailedBefore' | 'Withdrawn' | HandoverBlockReason;

/** Of a rollout, what decides on remarks. `startedAt`: ms since the epoch. */
interface RolloutHistory {
  startedAt: number | undefined;
  /** Why the revision is barred. */
  failure: string | undefined;
  /** This host has failed with the revision. */
  hasFailed: boolean;
  /** It has had a Pod of the revision, as far as is known. */
  hasReceived: boolean;
}

/** What sets a host apart from others of its lane, in a rollout that began and failed so; undefined: nothing. */
export function rolloutDetail(
  state: NodeRolloutState,
  { oldPodAt, waitReason, isWithdrawn, isOutdated }: NodeFacts,
  { startedAt, failure, hasFailed, hasReceived }: RolloutHistory,
): HostDetail | undefined {
  if (state.condition === 'none' && state.pods === 'handedOver')
    return isWithdrawn || isOutdated ? 'Withdrawn' : waitReason;
  if (!isPending(state) || failure === undefined || startedAt === undefined) return undefined;
  if (hasFailed) return 'FailedBefore';
  // Stored times are whole seconds, so the time alone does not tell what happened within one.
  const isRestored = oldPodAt !== undefined && (hasReceived || oldPodAt > startedAt);
  return isRestored ? 'Restored' : undefined;
}

/** How the rollout stands, as `rolloutStep` has it. */
export interface RolloutPhaseInfo {
  phase: RolloutPhase;
  /** Index of the last open wave; -1 = none. */
  wave: number;
  /** Nobody is given a turn now. */
  isHalted: boolean;
  /** The revision is barred. */
  isBarred: boolean;
  /** Hosts that have it go back. */
  isReverting: boolean;
}

/** Undefined: the host has no part in the rollout. The same for all hosts of one place. */
export function rolloutCode(
  host: HostRolloutState | undefined,
  rollout: RolloutPhaseInfo,
): RolloutReasonCode {
  if (!host) return 'NotEligible';
  const { state, detail } = host;
  const { pods, condition } = state;
  if (isDeferred(state)) return 'DeferredOffline';
  if (condition === 'skipped') return 'Skipped';
  const goesBack = rollout.isBarred && (rollout.isReverting || rollout.phase === 'RolledBack');
  const isEmpty = condition === 'none' && pods === 'empty';
  if (goesBack && (isEmpty || condition === 'staleFailed')) return 'RollingBack';
  if (isPending(state) || detail === 'Withdrawn') return holdCode(host, rollout);
  const isWaiting = condition === 'none' && pods === 'handedOver';
  if (isWaiting && detail && detail !== 'Restored' && detail !== 'FailedBefore') return detail;
  if (goesBack) return 'RollingBack';
  if (condition === 'failed') return 'Failed';
  if (!isUpdated(state)) return 'Updating';
  return rollout.phase === 'Soaking' && host.wave === rollout.wave ? 'Soaking' : 'Updated';
}

/** Why the update of a host has not started. */
function holdCode({ wave, detail, state }: HostRolloutState, rollout: RolloutPhaseInfo): RolloutReasonCode {
  const { phase } = rollout;
  const { pods, condition } = state;
  if (rollout.isBarred && detail === 'FailedBefore') return 'Failed';
  if (rollout.isBarred) return detail === 'Restored' ? 'Reverted' : 'RolloutFailed';
  if (phase === 'Frozen') return 'Frozen';
  if (phase === 'Paused') return 'RolloutPaused';
  const isOpen = wave <= rollout.wave;
  if (isOpen && condition === 'none' && (pods === 'empty' || pods === 'blocked')) return 'Updating';
  if (isOpen && phase === 'Completed' && rollout.isHalted) return 'RolloutPaused';
  if (isOpen && condition === 'awaitingResync') return 'AwaitingResync';
  if (isOpen) return awaitsWindow(state) ? 'OutsideWindow' : 'Budget';
  return phase === 'AwaitingApproval' && wave === rollout.wave + 1 ? 'WaitingForApproval' : 'WaitingForWave';
}
