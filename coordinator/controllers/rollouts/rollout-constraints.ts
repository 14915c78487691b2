/** The limits that a rollout sets for each node. The node reconciler obeys them. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { type ObjectRef, refText } from '../../../shared/kube/objects/meta.js';
import type { HandoverTerms } from '../../decisions/handovers/handover-terms.js';
import type { NodeRolloutStatus } from '../../decisions/reasons/reason-code.js';

/** A revision other than the current one: the DaemonSet with the template of that time. */
export interface PinnedRevision {
  daemonSet: DaemonSet;
  hash: string;
}

export interface RolloutConstraints {
  /** The revision of which the node's Pods are made while its wave is closed; undefined: the current one. */
  pinnedRevision(nodeName: string): PinnedRevision | undefined;
  /** The terms on which the host replaces its Pod itself; undefined: the coordinator replaces it. */
  handoverTerms(nodeName: string): HandoverTerms | undefined;
  /** True if no Pod of the node may be created or deleted. */
  isFrozen(nodeName: string): boolean;
}

/** No policy: behave like kube-controller-manager. */
export const UNCONSTRAINED: RolloutConstraints = {
  pinnedRevision: () => undefined,
  handoverTerms: () => undefined,
  isFrozen: () => false,
};

/** Read it at once, because the rollout changes with each event. */
interface PostedRollout {
  /** Returns the rollout's status for a node. The code is `NotEligible` if the node is not part of the rollout. */
  stanceOf(node: string): NodeRolloutStatus;
}

export class ActiveRollouts {
  readonly #posted = new Map<string, PostedRollout>();

  /** `rollout`: undefined if no policy governs the DaemonSet. */
  set(daemonSet: ObjectRef, rollout: PostedRollout | undefined): void {
    if (rollout) this.#posted.set(refText(daemonSet), rollout);
    else this.#posted.delete(refText(daemonSet));
  }

  rolloutOf(daemonSet: ObjectRef): PostedRollout | undefined {
    return this.#posted.get(refText(daemonSet));
  }

  nodeStatus(daemonSet: ObjectRef, node: string): NodeRolloutStatus | undefined {
    return this.rolloutOf(daemonSet)?.stanceOf(node);
  }
}
