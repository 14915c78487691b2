/** What the rollouts by waves say of nodes, for those who explain: kept by `Rollouts`, empty until they have looked. */
import { type ObjectRef, refText } from '../../shared/kube/meta.js';
import type { RolloutStance } from '../decisions/reason-code.js';

export class RolloutBoard {
  readonly #stances = new Map<string, (node: string) => RolloutStance>();

  /** `undefined`: no policy governs the DaemonSet. */
  post(daemonSet: ObjectRef, stanceOf: ((node: string) => RolloutStance) | undefined): void {
    if (stanceOf) this.#stances.set(refText(daemonSet), stanceOf);
    else this.#stances.delete(refText(daemonSet));
  }

  stanceOf(daemonSet: ObjectRef, node: string): RolloutStance | undefined {
    return this.#stances.get(refText(daemonSet))?.(node);
  }
}
