/** Counts connections in total and per network, with a limit for each. */
import { networkOf } from '../../../shared/link/peer-network.js';

export class NetworkLimit {
  readonly #limits: { readonly total: number; readonly perNetwork: number };
  readonly #counts = new Map<string, number>();
  #size = 0;

  constructor(limits: { total: number; perNetwork: number }) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /** Returns false, and counts nothing, if the total or the network of the address is at its limit. */
  tryAdd(address: string): boolean {
    const network = networkOf(address);
    const count = this.#counts.get(network) ?? 0;
    if (this.#size >= this.#limits.total || count >= this.#limits.perNetwork) return false;
    this.#size += 1;
    this.#counts.set(network, count + 1);
    return true;
  }

  delete(address: string): void {
    const network = networkOf(address);
    const count = this.#counts.get(network) ?? 0;
    if (count === 0) return;
    this.#size -= 1;
    if (count === 1) this.#counts.delete(network);
    else this.#counts.set(network, count - 1);
  }
}
