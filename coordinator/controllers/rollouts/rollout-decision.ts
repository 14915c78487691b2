/** One look at a rollout by waves, with nothing read or written: the controller takes it, and so do those who foresee. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import type { RolloutPolicy, RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { allowsSurge, updateBudget } from '../../decisions/daemonsets/update-strategy.js';
import { confirmSecondsOf } from '../../decisions/handovers/handover-terms.js';
import type { NodeRolloutStatus } from '../../decisions/reasons/reason-code.js';
import { type RolloutPhaseInfo, rolloutCode } from '../../decisions/rollouts/host-rollout-code.js';
import type { NodeConnectivity } from '../../decisions/rollouts/node-rollout-facts.js';
import type { FailureRules } from '../../decisions/rollouts/node-rollout-state.js';
import type { PodTimings } from '../../decisions/rollouts/pod-timings.js';
import {
  type RolloutInput,
  type RolloutMemory,
  updateMemory,
  type WaveCounts,
} from '../../decisions/rollouts/rollout-memory.js';
import { estimatedEnd, progressOf, type RolloutProgress } from '../../decisions/rollouts/rollout-progress.js';
import { memoryOf } from '../../decisions/rollouts/rollout-status.js';
import { judgeRollout, type RolloutVerdict } from '../../decisions/rollouts/rollout-verdict.js';
import { assignWavesStepwise, type PlannedNode, waveNames } from '../../decisions/rollouts/wave-plan.js';
import {
  lateRevertActions,
  limitCatchUp,
  type NodeActions,
  revertActions,
  updateActions,
  waveStrategy,
  withdrawActions,
} from './node-actions.js';
import { WaveIndex } from './wave-index.js';
import { earliest } from './window-index.js';

const DEFAULT_DEADLINE_SECONDS = 600;
/** A verdict changes what is counted twice at most: by a request, and by a rollout that ends through it. */
const MAX_LOOKS = 4;

/** Of the policies of its namespace, the one that governs a DaemonSet: the first by name that selects it. */
export function governingPolicy(
  { metadata }: DaemonSet,
  policies: readonly RolloutPolicy[],
): RolloutPolicy | undefined {
  return policies
    .filter((policy) => !policy.metadata.deletionTimestamp)
    .filter((policy) => compileLabelSelector(policy.spec.selector).matches(metadata.labels))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

/** What waves are drawn from. */
interface Draw {
  /** With the ranks in which they come. */
  nodes: readonly PlannedNode[];
  /** Hash of the revision on its way. */
  revision: string;
  connectivity: (node: string) => NodeConnectivity;
  /** Whether a revision failed before this one came; absent: none did. */
  isBarred?: ((hash: string) => boolean) | undefined;
  /** As in `RolloutWavesOptions`. */
  failedAndReverted?: readonly string[] | undefined;
  now: () => number;
}

/**
 * The waves of a policy over these nodes, still empty: the tally tells them where each node stands. Pauses on the way, as
 * `drawingOfWaves`.
 */
export function* buildWaveIndex(
  { metadata, spec }: RolloutPolicy,
  draw: Draw,
): Generator<undefined, { waves: WaveIndex; order: string[] }, undefined> {
  const { nodes, revision, connectivity: standing, isBarred, failedAndReverted: failedBefore, now } = draw;
  const { waves = [], spreadBy } = spec;
  const plan = yield* assignWavesStepwise(nodes, waves, { seed: metadata.uid ?? '', revision, spreadBy });
  const rules = rulesIn(spec);
  const options = {
    plan,
    waves: waves.length + 1,
    connectivity: standing,
    times: spec,
    rules,
    isBarred,
    failedAndReverted: failedBefore,
    now,
  };
  return { waves: new WaveIndex(options), order: [...plan.keys()] };
}

/** What a look is taken at. */
interface RolloutView {
  daemonSet: DaemonSet;
  policy: RolloutPolicy;
  waves: WaveIndex;
  /** Hash of the current revision. */
  revision: string;
  /** Hash of the newest revision but this one. */
  previous: string | undefined;
  /** Whether Pods can be made of the revision of this hash. */
  isKept(hash: string): boolean;
  /** As it is stored; absent before the first look. */
  rollout: Rollout | undefined;
  /** All Nodes there are. */
  fleetSize: number;
  pace: PodTimings;
  /** ms since the epoch. */
  now: number;
  /** As in `DaemonSetParts`. */
  timeOf?: ((stored: string) => number) | undefined;
}

export interface RolloutDecision {
  verdict: RolloutVerdict;
  /** As they are shown: hosts that failed count as failed also once they have their earlier revision again. */
  counts: readonly WaveCounts[];
  /** Whose turn it is, once the verdict has been stored. */
  actions: NodeActions;
  /** Whether Pods of this node are made of the current revision: of the stable one, where not. */
  isOpen(node: string): boolean;
  /** Whether no Pod is made or deleted there. */
  isFrozen(node: string): boolean;
  /** How the rollout stands for one node: `NotEligible`, where it has nothing to do with it. */
  nodeStatus(node: string): NodeRolloutStatus;
  /** All nodes by code, and the estimated end. */
  progress: RolloutProgress;
  /** When time alone changes something, ms. */
  requeueAt?: number;
  /** When the first host outside its window may go on, ms. */
  nextWindowAt?: number;
}

/** How far the rollout may go now. Moves nodes of `waves` whose time is up, and whom a request concerns. */
export function decideRollout(view: RolloutView): RolloutDecision {
  const { waves, policy } = view;
  const { verdict, counts, deadline } = look(view);
  const { message } = verdict;
  const isOpen = opener(verdict, waves);
  const names = waveNames(policy.spec.waves ?? []);
  const stand = standOf(verdict);
  const isFrozen = (node: string) => verdict.frozen === true || waves.closedWindow(node)?.create === false;
  const requeueAt = earliest([deadline, verdict.requeueAt]);
  const nextWindowAt = counts.some(({ outsideWindow }) => outsideWindow > 0)
    ? waves.nextWindowOpening
    : undefined;
  return {
    verdict,
    counts: withFailedBefore(counts, waves),
    actions: thawedOf(turnsBy(view, verdict), isFrozen),
    isOpen,
    isFrozen,
    nodeStatus: (node) => {
      const place = waves.hostStates.of(node);
      const code = rolloutCode(place, stand);
      const closed = code === 'OutsideWindow' ? waves.closedWindow(node)?.why : undefined;
      const failure = code === 'Failed' ? failureOf(view, node) : undefined;
      const wave = place ? (names[place.wave] ?? '') : '';
      return { code, wave, message: closed ?? message, ...(failure ? { failure } : {}) };
    },
    progress: progressOf(
      waves.hostStates.codes(counts.length, (place) => rolloutCode(place, stand)),
      Math.max(0, view.fleetSize - waves.hostStates.existing),
      estimateOf(view, verdict, counts),
    ),
    ...(requeueAt === undefined ? {} : { requeueAt }),
    ...(nextWindowAt === undefined ? {} : { nextWindowAt }),
  };
}

/** Only for display. Decisions treat a failed host that has its earlier revision again like any host with an old Pod. */
function withFailedBefore(counts: readonly WaveCounts[], { hostStates }: WaveIndex): WaveCounts[] {
  return counts.map((wave, index) => {
    const { failed, outOfWindow } = hostStates.failedBefore(index);
    // A host counts once: as failed, not as waiting for its window.
    return { ...wave, failed: wave.failed + failed, outsideWindow: wave.outsideWindow - outOfWindow };
  });
}

function failureOf({ rollout, revision }: RolloutView, node: string): string | undefined {
  const { status } = rollout ?? {};
  const known = status?.revision === revision && status.failures?.find((failure) => failure.node === node);
  if (!known) return undefined;
  return known.message ? `${known.reason}: ${known.message}` : known.reason;
}

function standOf({ phase, memory, revert, openUpTo }: RolloutVerdict): RolloutPhaseInfo {
  return {
    ...{ phase, wave: memory.wave, isHalted: openUpTo < 0 },
    isBarred: memory.failure !== undefined,
    isReverting: revert === 'all',
  };
}

function estimateOf(
  { daemonSet, policy, waves, pace, now }: RolloutView,
  { phase, memory }: RolloutVerdict,
  counts: readonly WaveCounts[],
): number | undefined {
  const { updateStrategy, minReadySeconds = 0 } = daemonSet.spec;
  const confirmMs = allowsSurge(updateStrategy) ? 0 : confirmSecondsOf(policy.spec) * 1000;
  return estimatedEnd({
    ...{ spec: policy.spec, phase, waves: counts, now },
    windowOpenings: (wave) => waves.windowOpenings(wave),
    ...{ wave: memory.wave, soakingSince: memory.soakingSince },
    budgetOf: (wave) => {
      const strategy = waveStrategy(policy.spec.waves?.[wave], updateStrategy);
      const { maxUnavailable, maxSurge } = updateBudget(strategy, counts[wave]?.nodes ?? 0);
      return Math.max(maxUnavailable, maxSurge);
    },
    // A Pod that its host has to confirm counts as available from then on.
    cycleMs: pace.stopMs + Math.max(pace.startMs + minReadySeconds * 1000, confirmMs),
  });
}

/** Until what was decided moves no node any more. Requests are taken in before anything is counted: they say what counts. */
function look({ policy, waves, revision, previous, isKept, rollout, now, timeOf }: RolloutView) {
  const deadline = waves.advanceTime();
  const { requests } = rollout?.spec ?? {};
  const input = (memory: RolloutMemory | undefined): RolloutInput => {
    return { spec: policy.spec, revision, previous, isKept, requests, now, memory, waves: waves.counts() };
  };
  let memory = updateMemory(input(memoryOf(rollout, policy.spec, timeOf)));
  for (let looks = 1; ; looks += 1) {
    waves.applyMemory(memory);
    const verdict = judgeRollout(input(memory));
    memory = verdict.memory;
    if (looks === MAX_LOOKS || !waves.applyMemory(memory)) {
      return { verdict, counts: waves.counts(), deadline: earliest([deadline, waves.advanceTime()]) };
    }
  }
}

function turnsBy({ daemonSet, policy, waves }: RolloutView, verdict: RolloutVerdict): NodeActions {
  if (verdict.frozen) return withdrawActions(waves);
  if (verdict.revert === 'late') return lateRevertActions(waves);
  if (verdict.revert === 'all') return revertActions(daemonSet, policy, waves);
  const turns = updateActions(daemonSet, policy, waves, verdict.openUpTo);
  return verdict.phase === 'Completed' ? limitCatchUp(turns, policy, waves) : turns;
}

/** What is of no use goes whatever the hour, but not while nothing may be made: its turn would be given again and again. */
function thawedOf(turns: NodeActions, isFrozen: (node: string) => boolean): NodeActions {
  return { ...turns, revert: turns.revert?.filter((node) => !isFrozen(node)) ?? [] };
}

/**
 * Where the revision is barred no Pod is made of it, save, when only those that follow late have failed, on the nodes that
 * are done. Before completion it is not brought to a node outside its window that has not had it yet.
 */
function opener({ memory }: RolloutVerdict, waves: WaveIndex): (node: string) => boolean {
  const { failure, completedAt, wave } = memory;
  if (failure !== undefined) return (node) => completedAt !== undefined && !waves.isCatchingUp(node);
  return (node) => {
    if (waves.waveOf(node) > wave || waves.isSkipped(node)) return false;
    return completedAt !== undefined || waves.hasReceived(node) || waves.closedWindow(node) === undefined;
  };
}

/** Without a budget no host counts as failed: it holds its wave, as upstream. */
function rulesIn({ failureBudget }: RolloutPolicySpec): FailureRules {
  if (!failureBudget) return {};
  const { progressDeadlineSeconds = DEFAULT_DEADLINE_SECONDS, withinSeconds } = failureBudget;
  return {
    deadlineMs: progressDeadlineSeconds * 1000,
    ...(withinSeconds === undefined ? {} : { withinMs: withinSeconds * 1000 }),
  };
}
