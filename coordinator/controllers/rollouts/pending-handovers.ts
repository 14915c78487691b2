/** Nodes whose host has been given its turn and is not known to have begun it. */
import type { NodeRecord } from '../../decisions/daemonsets/node-record.js';
import type { NodeUpdateState } from '../../decisions/daemonsets/rolling-update.js';

export class PendingHandovers {
  readonly #turned = new Set<string>();
  /** Those of them from whom it was not taken back. */
  readonly #withdrawable = new Map<string, { isOutdated: boolean }>();

  /** Where the tally sees a node now. */
  update(name: string, situation: NodeUpdateState | undefined, turn: NodeRecord['handover']): void {
    const isTurned = situation === 'turned';
    if (isTurned) this.#turned.add(name);
    else this.#turned.delete(name);
    if (isTurned && !turn?.withdrawn) this.#withdrawable.set(name, { isOutdated: turn?.isOutdated === true });
    else this.#withdrawable.delete(name);
  }

  has(name: string): boolean {
    return this.#turned.has(name);
  }

  /** Those whose turn is to be taken back: to something that is not wanted any more, or of whom that is asked. */
  handoversToWithdraw(isAsked: (name: string) => boolean): string[] {
    return [...this.#withdrawable].flatMap(([name, { isOutdated }]) =>
      isOutdated || isAsked(name) ? name : [],
    );
  }
}
