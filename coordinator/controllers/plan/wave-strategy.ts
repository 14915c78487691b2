/**
 * A policy's waves in a simulation. Each step uses the controller's decision, on the status that the last step would
 * have stored.
 */

import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutReasonCode } from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { runInSlices, type TimeSlice } from '../../../shared/process/time/time-slice.js';
import { rolloutRevision, templateHashOf } from '../../decisions/daemonsets/daemon-node.js';
import { holdText, type ReasonCode } from '../../decisions/reasons/reason-code.js';
import { nodeConnectivity } from '../../decisions/rollouts/node-rollout-facts.js';
import type { PodTimings } from '../../decisions/rollouts/pod-timings.js';
import { statusOf } from '../../decisions/rollouts/rollout-status.js';
import { waveNames } from '../../decisions/rollouts/wave-plan.js';
import type { DaemonSetTally } from '../daemonsets/daemonset-tally.js';
import type { NodeActions } from '../rollouts/node-actions.js';
import { type RolloutConstraints, UNCONSTRAINED } from '../rollouts/rollout-constraints.js';
import { buildWaveIndex, decideRollout, type RolloutDecision } from '../rollouts/rollout-decision.js';
import {
  isRevisionCompleted,
  pinnedRevisionOf,
  previousHash,
  stableRevisionIn,
} from '../rollouts/rollout-revisions.js';
import { rankNodes } from '../rollouts/wave-assignments.js';
import type { WaveIndex } from '../rollouts/wave-index.js';
import type { RolloutStrategy } from './rollout-strategy.js';
import type { SimulationTimeline } from './simulation-timeline.js';

export interface WaveStrategyOptions {
  daemonSet: DaemonSet;
  policy: RolloutPolicy;
  tally: DaemonSetTally;
  timeline: SimulationTimeline;
  pace: PodTimings;
  /** As stored, if there is one. */
  rollout: Rollout | undefined;
  /** As stored. */
  revisions: readonly ControllerRevision[];
  pods: readonly Pod[];
  nodeOf(name: string): Node | undefined;
  fleetSize: number;
  slice: TimeSlice;
}

export class WaveStrategy implements RolloutStrategy {
  readonly #options: WaveStrategyOptions;
  constraints: RolloutConstraints;
  readonly assumptions: string[] = [];
  /** Waves whose approval was assumed. */
  readonly #assumed = new Set<string>();
  #waves: WaveIndex | undefined;
  #rollout: Rollout | undefined;
  #decision: RolloutDecision | undefined;

  /** Until `start`, nodes are pinned to the stable revision, as by the controller. */
  constructor(options: WaveStrategyOptions) {
    this.#options = options;
    const { rollout, tally, policy } = options;
    this.#rollout = rollout;
    const revision = rolloutRevision(tally.subject.current);
    const { status } = rollout ?? {};
    const isFrozen = policy.spec.frozen === true || status?.steering?.frozen === true;
    const isPinned = status !== undefined && !isRevisionCompleted(status, revision);
    const stable = isPinned ? this.#other(stableRevisionIn(status, revision)) : undefined;
    this.constraints = { ...UNCONSTRAINED, pinnedRevision: () => stable, isFrozen: () => isFrozen };
  }

  async start(): Promise<void> {
    const { tally, policy, timeline, nodeOf, pods, revisions, rollout, slice } = this.#options;
    const { hash } = tally.subject.current;
    const { status } = rollout ?? {};
    const previous = previousHash(revisions, hash);
    const nodes = await rankNodes({ tally, nodeOf, pods, status, previous, now: timeline.now, slice });
    const connectivity = (name: string) => nodeConnectivity(nodeOf(name));
    const revision = rolloutRevision(tally.subject.current);
    const failedBefore = status?.revision === revision ? status.failedNodes : undefined;
    const draw = {
      nodes,
      revision,
      connectivity: connectivity,
      failedAndReverted: failedBefore,
      now: () => timeline.now,
    };
    const drawn = await runInSlices(buildWaveIndex(policy, draw), slice);
    this.#waves = drawn.waves;
    tally.subscribe((name, situation, record) => drawn.waves.update(name, situation, record));
    for (const name of drawn.order) {
      tally.notify(name);
      await slice.yieldIfUsedUp();
    }
  }

  nextActions(now: number): NodeActions {
    const { daemonSet, policy, tally, pace, fleetSize, revisions } = this.#options;
    if (!this.#waves) throw new Error('not begun');
    const { hash } = tally.subject.current;
    const decision = decideRollout({
      ...{
        daemonSet,
        policy,
        waves: this.#waves,
        revision: rolloutRevision(tally.subject.current),
        rollout: this.#rollout,
        now,
        fleetSize,
        pace,
      },
      previous: previousHash(revisions, hash),
      isKept: (one) => this.#other(one) !== undefined,
    });
    const { verdict, counts, progress, nextWindowAt, isOpen } = decision;
    const status = statusOf(policy, verdict, counts, progress, nextWindowAt);
    this.#rollout = { ...(this.#rollout ?? { metadata: daemonSet.metadata }), status } as Rollout;
    const stable = this.#other(verdict.memory.stable);
    this.constraints = {
      ...UNCONSTRAINED,
      pinnedRevision: (name) => (isOpen(name) ? undefined : stable),
      isFrozen: decision.isFrozen,
    };
    this.#decision = decision;
    return decision.actions;
  }

  requeueAt(): number | undefined {
    return this.#decision?.requeueAt;
  }

  /** Approves the next wave if the rollout waits for that. */
  assumeApproval(): boolean {
    const { verdict } = this.#decision ?? {};
    const { status } = this.#rollout ?? {};
    if (verdict?.phase !== 'AwaitingApproval' || !status || !this.#rollout) return false;
    const next = waveNames(this.#options.policy.spec.waves ?? [])[verdict.memory.wave + 1] ?? '';
    const steering = status.steering ?? { handled: 0 };
    const approved = [...(steering.approved ?? []), next];
    this.#rollout = { ...this.#rollout, status: { ...status, steering: { ...steering, approved } } };
    this.#assumed.add(next);
    this.assumptions.push(`wave ${next} is approved as soon as it can open`);
    return true;
  }

  get waves(): { name: string; needsApproval: boolean }[] {
    return waveNames(this.#options.policy.spec.waves ?? []).map((name) => {
      return { name, needsApproval: this.#assumed.has(name) };
    });
  }

  waveOf(node: string): string | undefined {
    return this.#decision?.nodeStatus(node).wave || undefined;
  }

  blockReason(node: string): { code: ReasonCode | RolloutReasonCode; because: string } {
    const stance = this.#decision?.nodeStatus(node);
    const { message = '' } = stance ?? {};
    return { code: stance?.code ?? 'Updating', because: (stance && holdText(stance)) ?? message };
  }

  stopReason(): string | undefined {
    const { phase, message } = this.#decision?.verdict ?? {};
    return phase === 'Completed' ? undefined : message;
  }

  /** Like the controller: undefined if only the values differ. */
  #other(revision: string | undefined) {
    const { daemonSet, revisions, tally } = this.#options;
    const hash = revision === undefined ? undefined : templateHashOf(revision);
    const other = pinnedRevisionOf(daemonSet, revisions, hash);
    return hash === tally.subject.current.hash ? undefined : other;
  }
}
