/** Labels that distinguish hosts, counted incrementally. */
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { canNameSites } from '../../../shared/kube/fleet/site-labels.js';
import { diffHosts } from '../host-list-diff.js';

/** Caches the last fleet. The result only depends on the argument. */
export class LabelCounts {
  #hosts: readonly Host[] = [];
  /** Number of hosts by label key, and by its values. */
  readonly #labels = new Map<string, { hosts: number; values: Map<string, number> }>();
  #keys: readonly string[] = [];

  /** Returns keys with several values, but fewer than hosts that have the label. `hosts` must be sorted by name. */
  of(hosts: readonly Host[]): readonly string[] {
    const { removed, added } = diffHosts(this.#hosts, hosts);
    for (const host of removed) this.#count(host, -1);
    for (const host of added) this.#count(host, 1);
    this.#hosts = hosts;
    const keys = [...this.#labels]
      .filter(([, { values, hosts: labelled }]) => canNameSites(values.size, labelled))
      .map(([key]) => key)
      .sort();
    if (keys.join() !== this.#keys.join()) this.#keys = keys;
    return this.#keys;
  }

  #count({ metadata }: Host, by: 1 | -1): void {
    for (const [key, value] of Object.entries(metadata.labels ?? {})) {
      const label = this.#labels.get(key) ?? { hosts: 0, values: new Map<string, number>() };
      this.#labels.set(key, label);
      label.hosts += by;
      const { values } = label;
      const count = (values.get(value) ?? 0) + by;
      if (count > 0) values.set(value, count);
      else values.delete(value);
    }
  }
}
