/** What the rollouts by waves say of nodes, for those who explain: kept by `Rollouts`, empty until they have looked. */
import { type ObjectRef, refText } from '../../../shared/kube/objects/meta.js';
import type { NodeRolloutStatus } from '../../decisions/reasons/reason-code.js';

/** One rollout as it stands: read at once, since it moves. */
interface PostedRollout {
  /** How it stands for a node; `NotEligible` for one that has no part in it. */
  stanceOf(node: string): NodeRolloutStatus;
}

export class ActiveRollouts {
  readonly #posted = new Map<string, PostedRollout>();

  /** `undefined`: no policy governs the DaemonSet. */
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
