/** The one reason code of a host in a rollout by waves: how it has fared, or what it waits for. */
import type { HandoverBlockReason } from '../../../shared/kube/handovers/host-handover.js';
import type { RolloutReasonCode } from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import type { RolloutPhase } from '../../../shared/kube/rollouts/rollout-types.js';
import { BEFORE_UPDATE_STATES, type NodeFacts, type NodeRolloutState } from './node-rollout-state.js';

/** Where one host stands. */
export interface HostRolloutState {
  /** Index of its wave. */
  wave: number;
  state: NodeRolloutState;
  detail?: HostRemark;
}

/**
 * What sets hosts of one lane apart: given the earlier revision while this rollout ran (`FailedBefore`: after it failed with the
 * new one), why the host has not begun its turn, or that it was taken back.
 */
type HostRemark = 'Restored' | 'FailedBefore' | 'Withdrawn' | HandoverBlockReason;

/** Of a rollout, what decides on remarks. `startedAt`: ms since the epoch. */
interface Course {
  startedAt: number | undefined;
  /** Why the revision is barred. */
  failure: string | undefined;
  /** This host has failed with the revision. */
  hasFailed: boolean;
  /** It has had a Pod of the revision, as far as is known. */
  hasTaken: boolean;
}

/** What sets a host apart from others of its lane, in a rollout that began and failed so; undefined: nothing. */
export function rolloutDetail(
  lane: NodeRolloutState,
  { oldPodAt, waitReason: waiting, isWithdrawn, isOutdated }: NodeFacts,
  { startedAt, failure, hasFailed, hasTaken }: Course,
): HostRemark | undefined {
  if (lane === 'turned') return isWithdrawn || isOutdated ? 'Withdrawn' : waiting;
  if (!awaitsTurn(lane) || failure === undefined || startedAt === undefined) return undefined;
  if (hasFailed) return 'FailedBefore';
  // Stored times are whole seconds, so the time alone does not tell what happened within one.
  const isRestored = oldPodAt !== undefined && (hasTaken || oldPodAt > startedAt);
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

/** Lanes of hosts whose window is closed and that have not had their turn. */
const OUTSIDE: ReadonlySet<NodeRolloutState> = new Set<NodeRolloutState>([
  'outOfWindowAvailable',
  'outOfWindowUnavailable',
  'outOfWindowRetiring',
  'outOfWindowBlocked',
]);
const STRAYS: ReadonlySet<NodeRolloutState> = new Set<NodeRolloutState>([
  'staleFailedAvailable',
  'staleFailedUnavailable',
]);
const AWAITED: ReadonlySet<NodeRolloutState> = new Set<NodeRolloutState>([
  'awaitingResyncAvailable',
  'awaitingResyncUnavailable',
]);
/** Lanes of hosts that have not had their turn, whatever keeps them. */
const OLD: ReadonlySet<NodeRolloutState> = new Set<NodeRolloutState>([
  ...BEFORE_UPDATE_STATES,
  ...OUTSIDE,
  ...AWAITED,
  ...STRAYS,
]);
const WITHOUT: ReadonlySet<NodeRolloutState> = new Set<NodeRolloutState>(['empty', 'withheld']);
const DONE: ReadonlySet<NodeRolloutState> = new Set<NodeRolloutState>([
  'newAvailable',
  'outOfWindowUpdated',
  'awaitingResyncUpdated',
]);

/** Whether a host of the lane has yet to be given its turn. */
function awaitsTurn(lane: NodeRolloutState): boolean {
  return OLD.has(lane);
}

/** Undefined: the host has no part in the rollout. The same for all hosts of one place. */
export function rolloutCode(place: HostRolloutState | undefined, stand: RolloutPhaseInfo): RolloutReasonCode {
  if (!place) return 'NotEligible';
  const { state: lane, detail: remark } = place;
  if (lane === 'deferred' || lane === 'deferredHandover') return 'DeferredOffline';
  if (lane === 'skipped') return 'Skipped';
  const goesBack = stand.isBarred && (stand.isReverting || stand.phase === 'RolledBack');
  if (goesBack && (lane === 'empty' || STRAYS.has(lane))) return 'RollingBack';
  if (awaitsTurn(lane) || remark === 'Withdrawn') return holdCode(place, stand);
  if (lane === 'turned' && remark && remark !== 'Restored' && remark !== 'FailedBefore') return remark;
  if (goesBack) return 'RollingBack';
  if (lane === 'failed') return 'Failed';
  if (!DONE.has(lane)) return 'Updating';
  return stand.phase === 'Soaking' && place.wave === stand.wave ? 'Soaking' : 'Updated';
}

/** Why a host has not had its turn. */
function holdCode(
  { wave, detail: remark, state: lane }: HostRolloutState,
  stand: RolloutPhaseInfo,
): RolloutReasonCode {
  const { phase } = stand;
  if (stand.isBarred && remark === 'FailedBefore') return 'Failed';
  if (stand.isBarred) return remark === 'Restored' ? 'Reverted' : 'RolloutFailed';
  if (phase === 'Frozen') return 'Frozen';
  if (phase === 'Paused') return 'RolloutPaused';
  const isOpen = wave <= stand.wave;
  if (isOpen && WITHOUT.has(lane)) return 'Updating';
  if (isOpen && phase === 'Completed' && stand.isHalted) return 'RolloutPaused';
  if (isOpen && AWAITED.has(lane)) return 'AwaitingResync';
  if (isOpen) return OUTSIDE.has(lane) ? 'OutsideWindow' : 'Budget';
  return phase === 'AwaitingApproval' && wave === stand.wave + 1 ? 'WaitingForApproval' : 'WaitingForWave';
}
