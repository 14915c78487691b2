/** Where each host of a rollout stands, and how many stand in each place: counts by code cost no look at any host. */
import type { RolloutReasonCode } from '../../../shared/kube/rollouts/rollout-reason-codes.js';
import type { HostRolloutState } from '../../decisions/rollouts/host-rollout-code.js';
import type { NodeRolloutState } from '../../decisions/rollouts/node-rollout-state.js';

export class RolloutCodeCounts {
  readonly #places = new Map<string, HostRolloutState>();
  /** By wave, lane and remark. */
  readonly #counts = new Map<string, { place: HostRolloutState; count: number }>();
  /** Placed nodes whose Node exists. */
  readonly #existing = new Set<string>();

  /** `undefined`: the node has no part in the rollout. */
  set(name: string, place: HostRolloutState | undefined, exists: boolean): void {
    const before = this.#places.get(name);
    if (before) this.#count(before, -1);
    if (place) {
      this.#places.set(name, place);
      this.#count(place, 1);
    } else this.#places.delete(name);
    if (place && exists) this.#existing.add(name);
    else this.#existing.delete(name);
  }

  /** Undefined for a node that has no part in the rollout. */
  of(name: string): HostRolloutState | undefined {
    return this.#places.get(name);
  }

  /** How many of the placed nodes there are as Nodes. */
  get existing(): number {
    return this.#existing.size;
  }

  /** Nodes by code, for each of so many waves. */
  codes(
    waves: number,
    codeOf: (place: HostRolloutState) => RolloutReasonCode,
  ): Map<RolloutReasonCode, number>[] {
    const codes = Array.from({ length: waves }, () => new Map<RolloutReasonCode, number>());
    for (const { place, count } of this.#counts.values()) {
      const code = codeOf(place);
      const wave = codes[place.wave];
      wave?.set(code, (wave.get(code) ?? 0) + count);
    }
    return codes;
  }

  /** Hosts that failed and have their earlier revision again, for each of so many waves: how many, by lane. */
  failedAndReverted(waves: number): { lane: NodeRolloutState; count: number }[][] {
    const byWave: { lane: NodeRolloutState; count: number }[][] = Array.from({ length: waves }, () => []);
    for (const { place, count } of this.#counts.values()) {
      if (place.detail === 'FailedBefore') byWave[place.wave]?.push({ lane: place.state, count });
    }
    return byWave;
  }

  #count(place: HostRolloutState, sign: 1 | -1): void {
    const key = `${place.wave}/${place.state}/${place.detail ?? ''}`;
    const count = (this.#counts.get(key)?.count ?? 0) + sign;
    if (count > 0) this.#counts.set(key, { place, count });
    else this.#counts.delete(key);
  }
}
