/** Decides the actions in a simulation: upstream's rolling update, or a policy's waves. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { countText } from '../../../shared/kube/objects/meta.js';
import type { RolloutReasonCode } from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import { chooseReplacements } from '../../decisions/daemonsets/rolling-update.js';
import { isRollingUpdate } from '../../decisions/daemonsets/update-strategy.js';
import type { ReasonCode } from '../../decisions/reasons/reason-code.js';
import type { DaemonSetTally } from '../daemonsets/daemonset-tally.js';
import { NO_ACTIONS, type NodeActions } from '../rollouts/node-actions.js';
import { type RolloutConstraints, UNCONSTRAINED } from '../rollouts/rollout-constraints.js';

export interface RolloutStrategy {
  /** The rollout's constraints as of the last `nextActions`. */
  readonly constraints: RolloutConstraints;
  /** Call it when every node has been counted, before `nextActions`. */
  start(): Promise<void>;
  nextActions(now: number): NodeActions;
  /** When `nextActions` changes without an event, in ms since the epoch. Undefined: never. */
  requeueAt(): number | undefined;
  /**
   * Called when the simulation cannot continue. Assumes what is needed, such as an approval. Returns false if nothing
   * helps.
   */
  assumeApproval(): boolean;
  /** The assumptions as sentences. */
  readonly assumptions: readonly string[];
  /** Waves in their order, and whether an approval was assumed for each. [] without a policy. */
  readonly waves: readonly { name: string; needsApproval: boolean }[];
  waveOf(node: string): string | undefined;
  /** Returns why a node with an older Pod keeps it now. */
  blockReason(node: string): { code: ReasonCode | RolloutReasonCode; because: string };
  /** Returns why the rollout stops before all nodes are updated, or undefined. */
  stopReason(): string | undefined;
}

/** Without a policy: upstream's rolling update of the whole fleet. */
export class UpstreamStrategy implements RolloutStrategy {
  readonly #daemonSet: DaemonSet;
  readonly #tally: DaemonSetTally;
  readonly constraints = UNCONSTRAINED;
  readonly assumptions: readonly string[] = [];
  readonly waves: readonly { name: string; needsApproval: boolean }[] = [];

  constructor(daemonSet: DaemonSet, tally: DaemonSetTally) {
    this.#daemonSet = daemonSet;
    this.#tally = tally;
  }

  get #rolls(): boolean {
    return isRollingUpdate(this.#daemonSet.spec.updateStrategy);
  }

  async start(): Promise<void> {
    // No waves to assign.
  }

  nextActions(): NodeActions {
    return this.#rolls ? chooseReplacements(this.#tally, this.#daemonSet.spec.updateStrategy) : NO_ACTIONS;
  }

  requeueAt(): undefined {
    return undefined;
  }

  assumeApproval(): boolean {
    return false;
  }

  waveOf(): undefined {
    return undefined;
  }

  blockReason(): { code: ReasonCode; because: string } {
    return this.#rolls
      ? { code: 'Budget', because: 'the budget is used up: other hosts are updated first' }
      : { code: 'UpdateOnDelete', because: 'the update strategy is OnDelete: delete its Pod to update it' };
  }

  stopReason(): string | undefined {
    const { nodes } = this.#tally;
    const left = nodes.oldAvailable.size + nodes.retiringAvailable.size;
    if (!this.#rolls || left === 0) return undefined;
    const waiting = countText(left, 'host waits', 'hosts wait');
    return `${waiting} because other hosts do not become available, and no more may be unavailable at once`;
  }
}
