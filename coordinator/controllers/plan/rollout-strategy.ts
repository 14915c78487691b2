/** Who says whose turn it is in a rehearsal: upstream's rolling update, or a policy's waves. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { countText } from '../../../shared/kube/objects/count-text.js';
import type { RolloutReasonCode } from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import { chooseReplacements } from '../../decisions/daemonsets/rolling-update.js';
import { isRollingUpdate } from '../../decisions/daemonsets/update-strategy.js';
import type { ReasonCode } from '../../decisions/reasons/reason-code.js';
import type { DaemonSetTally } from '../daemonsets/daemonset-tally.js';
import { NO_ACTIONS, type NodeActions } from '../rollouts/node-actions.js';
import { type RolloutConstraints, UNCONSTRAINED } from '../rollouts/rollout-constraints.js';

export interface RolloutStrategy {
  /** What the rollout allows on each node, as of the last `nextActions`. */
  readonly constraints: RolloutConstraints;
  /** Once every node has been counted, before the first turns. */
  start(): Promise<void>;
  /** The turns of this moment. */
  nextActions(now: number): NodeActions;
  /** When time alone changes what `turns` says, ms; undefined: never. */
  requeueAt(): number | undefined;
  /** Nothing happens any more: may something be supposed (an approval, say) for it to go on? True when it was. */
  assumeApproval(): boolean;
  /** What was supposed, in words. */
  readonly assumptions: readonly string[];
  /** Waves in order, and which of them opened only by an approval that was supposed; [] without a policy. */
  readonly waves: readonly { name: string; needsApproval: boolean }[];
  waveOf(node: string): string | undefined;
  /** Why a node that has an older Pod keeps it now. */
  blockReason(node: string): { code: ReasonCode | RolloutReasonCode; because: string };
  /** Why nothing more happens, if that is not because all is done. */
  stopReason(): string | undefined;
}

/** Without a policy: as upstream, over the whole fleet. */
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
    // Nothing to draw.
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
      ? { code: 'Budget', because: 'as many others as may be unavailable at once go first' }
      : { code: 'UpdateOnDelete', because: 'the update strategy is OnDelete: its Pod has to be deleted' };
  }

  stopReason(): string | undefined {
    const { nodes } = this.#tally;
    const left = nodes.oldAvailable.size + nodes.retiringAvailable.size;
    if (!this.#rolls || left === 0) return undefined;
    const waiting = countText(left, 'host waits', 'hosts wait');
    return `${waiting} for others that do not become available and use up maxUnavailable`;
  }
}
