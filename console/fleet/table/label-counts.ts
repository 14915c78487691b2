/** Which labels tell hosts apart, kept up with what changes. */
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { diffHosts } from '../host-list-diff.js';

/** Remembers the last picture; what it answers depends on its argument alone. */
export class LabelCounts {
  #hosts: readonly Host[] = [];
  /** How many hosts have each value of each label. */
  readonly #values = new Map<string, Map<string, number>>();
  #keys: readonly string[] = [];

  /** Keys with more than one value, and fewer values than hosts: the same array as long as they are the same. `hosts` in order of their names. */
  of(hosts: readonly Host[]): readonly string[] {
    const { gone, come } = diffHosts(this.#hosts, hosts);
    for (const host of gone) this.#count(host, -1);
    for (const host of come) this.#count(host, 1);
    this.#hosts = hosts;
    const keys = [...this.#values]
      .filter(([, { size }]) => size > 1 && size < Math.max(hosts.length, 2))
      .map(([key]) => key)
      .sort();
    if (keys.join() !== this.#keys.join()) this.#keys = keys;
    return this.#keys;
  }

  #count({ metadata }: Host, by: 1 | -1): void {
    for (const [key, value] of Object.entries(metadata.labels ?? {})) {
      const values = this.#values.get(key) ?? new Map<string, number>();
      this.#values.set(key, values);
      const count = (values.get(value) ?? 0) + by;
      if (count > 0) values.set(value, count);
      else values.delete(value);
    }
  }
}
