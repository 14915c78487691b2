/**
 * Decides one step of a rollout by waves, without reading or writing the store. Used by the controller and by plans.
 */

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
/** A verdict changes the counts at most twice: by a request, and by completing the rollout. */
const MAX_ROUNDS = 4;

/**
 * Returns the policy that governs a DaemonSet: the first by name that selects it. `policies`: those of its namespace.
 */
export function governingPolicy(
  { metadata }: DaemonSet,
  policies: readonly RolloutPolicy[],
): RolloutPolicy | undefined {
  return policies
    .filter((policy) => !policy.metadata.deletionTimestamp)
    .filter((policy) => compileLabelSelector(policy.spec.selector).matches(metadata.labels))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

interface AssignmentInput {
  /** With their ranks. */
  nodes: readonly PlannedNode[];
  /** Hash of the current revision. */
  revision: string;
  connectivity: (node: string) => NodeConnectivity;
  /** Returns true if a revision failed in an earlier rollout. Absent: none did. */
  isBarred?: ((hash: string) => boolean) | undefined;
  /** As in `WaveIndexOptions`. */
  failedAndReverted?: readonly string[] | undefined;
  now: () => number;
}

/**
 * Assigns the nodes to the policy's waves. The index is empty until the tally notifies it of each node. Yields like
 * `assignWavesStepwise`.
 */
export function* buildWaveIndex(
  { metadata, spec }: RolloutPolicy,
  input: AssignmentInput,
): Generator<undefined, { waves: WaveIndex; order: string[] }, undefined> {
  const { nodes, revision, connectivity, isBarred, failedAndReverted: failedBefore, now } = input;
  const { waves = [], spreadBy } = spec;
  const plan = yield* assignWavesStepwise(nodes, waves, { seed: metadata.uid ?? '', revision, spreadBy });
  const rules = failureRules(spec);
  const options = {
    plan,
    waves: waves.length + 1,
    connectivity: connectivity,
    times: spec,
    rules,
    isBarred,
    failedAndReverted: failedBefore,
    now,
  };
  return { waves: new WaveIndex(options), order: [...plan.keys()] };
}

interface RolloutView {
  daemonSet: DaemonSet;
  policy: RolloutPolicy;
  waves: WaveIndex;
  /** Hash of the current revision. */
  revision: string;
  /** Hash of the newest revision before it. */
  previous: string | undefined;
  /** Returns true if Pods can be made of this revision, because its ControllerRevision exists. */
  isKept(hash: string): boolean;
  /** As stored. Undefined before the first reconcile. */
  rollout: Rollout | undefined;
  /** Number of all Nodes. */
  fleetSize: number;
  pace: PodTimings;
  /** In ms since the epoch. */
  now: number;
  /** As in `DaemonSetDeps`. */
  timeOf?: ((stored: string) => number) | undefined;
}

export interface RolloutDecision {
  verdict: RolloutVerdict;
  /** For display: failed hosts count as failed even after they got their earlier revision back. */
  counts: readonly WaveCounts[];
  /** Perform them only after the verdict has been stored. */
  actions: NodeActions;
  /** Returns true if the node's Pods are made of the current revision, false if of the stable one. */
  isOpen(node: string): boolean;
  /** Returns true if no Pod of the node may be created or deleted. */
  isFrozen(node: string): boolean;
  /** The code is `NotEligible` if the node is not part of the rollout. */
  nodeStatus(node: string): NodeRolloutStatus;
  /** Counts by reason code, and the estimated end. */
  progress: RolloutProgress;
  /** When the decision changes without an event, in ms since the epoch. */
  requeueAt?: number;
  /** When the first host outside its window may be updated, in ms since the epoch. */
  nextWindowAt?: number;
}

/** Also updates the state of nodes with a passed deadline, and of nodes in an operator's request. */
export function decideRollout(view: RolloutView): RolloutDecision {
  const { waves, policy } = view;
  const { verdict, counts, deadline } = decideUntilStable(view);
  const { message } = verdict;
  const isOpen = openTest(verdict, waves);
  const names = waveNames(policy.spec.waves ?? []);
  const phaseInfo = phaseInfoOf(verdict);
  const isFrozen = (node: string) => verdict.frozen === true || waves.closedWindow(node)?.create === false;
  const requeueAt = earliest([deadline, verdict.requeueAt]);
  const nextWindowAt = counts.some(({ outsideWindow }) => outsideWindow > 0)
    ? waves.nextWindowOpening
    : undefined;
  return {
    verdict,
    counts: withFailedBefore(counts, waves),
    actions: withoutFrozen(actionsBy(view, verdict), isFrozen),
    isOpen,
    isFrozen,
    nodeStatus: (node) => {
      const host = waves.hostStates.of(node);
      const code = rolloutCode(host, phaseInfo);
      const closed = code === 'OutsideWindow' ? waves.closedWindow(node)?.why : undefined;
      const failure = code === 'Failed' ? failureOf(view, node) : undefined;
      const wave = host ? (names[host.wave] ?? '') : '';
      return { code, wave, message: closed ?? message, ...(failure ? { failure } : {}) };
    },
    progress: progressOf(
      waves.hostStates.codes(counts.length, (host) => rolloutCode(host, phaseInfo)),
      Math.max(0, view.fleetSize - waves.hostStates.existing),
      estimateOf(view, verdict, counts),
    ),
    ...(requeueAt === undefined ? {} : { requeueAt }),
    ...(nextWindowAt === undefined ? {} : { nextWindowAt }),
  };
}

/** Only for display. Decisions treat a reverted host like any host with an old Pod. */
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

function phaseInfoOf({ phase, memory, revert, openUpTo }: RolloutVerdict): RolloutPhaseInfo {
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
    // A Pod that its host has to confirm becomes available with the confirmation.
    cycleMs: pace.stopMs + Math.max(pace.startMs + minReadySeconds * 1000, confirmMs),
  });
}

/**
 * Repeats the step until it changes no node. Requests are applied before nodes are counted, because they change the
 * counts.
 */
function decideUntilStable({ policy, waves, revision, previous, isKept, rollout, now, timeOf }: RolloutView) {
  const deadline = waves.advanceTime();
  const { requests } = rollout?.spec ?? {};
  const input = (memory: RolloutMemory | undefined): RolloutInput => {
    return { spec: policy.spec, revision, previous, isKept, requests, now, memory, waves: waves.counts() };
  };
  let memory = updateMemory(input(memoryOf(rollout, policy.spec, timeOf)));
  for (let rounds = 1; ; rounds += 1) {
    waves.applyMemory(memory);
    const verdict = judgeRollout(input(memory));
    memory = verdict.memory;
    if (rounds === MAX_ROUNDS || !waves.applyMemory(memory)) {
      return { verdict, counts: waves.counts(), deadline: earliest([deadline, waves.advanceTime()]) };
    }
  }
}

function actionsBy({ daemonSet, policy, waves }: RolloutView, verdict: RolloutVerdict): NodeActions {
  if (verdict.frozen) return withdrawActions(waves);
  if (verdict.revert === 'late') return lateRevertActions(waves);
  if (verdict.revert === 'all') return revertActions(daemonSet, policy, waves);
  const actions = updateActions(daemonSet, policy, waves, verdict.openUpTo);
  return verdict.phase === 'Completed' ? limitCatchUp(actions, policy, waves) : actions;
}

/**
 * Useless Pods are deleted outside windows too, but not on frozen nodes: the action would be ordered in a tight loop.
 */
function withoutFrozen(actions: NodeActions, isFrozen: (node: string) => boolean): NodeActions {
  return { ...actions, revert: actions.revert?.filter((node) => !isFrozen(node)) ?? [] };
}

/**
 * Returns the test for nodes on which Pods of the current revision may be created. A barred revision is
 * created nowhere, unless only late nodes failed. A node outside its window first gets the revision after completion.
 */
function openTest({ memory }: RolloutVerdict, waves: WaveIndex): (node: string) => boolean {
  const { failure, completedAt, wave } = memory;
  if (failure !== undefined) return (node) => completedAt !== undefined && !waves.isCatchingUp(node);
  return (node) => {
    if (waves.waveOf(node) > wave || waves.isSkipped(node)) return false;
    return completedAt !== undefined || waves.hasReceived(node) || waves.closedWindow(node) === undefined;
  };
}

/** Without a failure budget no host fails. A host that is not well then blocks its wave, like in upstream's rolling update. */
function failureRules({ failureBudget }: RolloutPolicySpec): FailureRules {
  if (!failureBudget) return {};
  const { progressDeadlineSeconds = DEFAULT_DEADLINE_SECONDS, withinSeconds } = failureBudget;
  return {
    deadlineMs: progressDeadlineSeconds * 1000,
    ...(withinSeconds === undefined ? {} : { withinMs: withinSeconds * 1000 }),
  };
}
