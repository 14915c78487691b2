/** Incremental sorting of the fleet: only changed hosts are moved. */
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { diffHosts } from '../host-list-diff.js';
import { COLUMNS, type HostColumn, type Sort } from './host-columns.js';

interface Entry {
  host: Host;
  key: string | number;
}

type Compare = (a: Entry, b: Entry) => number;

/** Caches the last result. The result only depends on the arguments. */
export class HostSorting {
  #hosts: readonly Host[] = [];
  #entries: readonly Entry[] = [];
  #order: HostColumn['order'] | undefined;
  #down = false;

  /** `hosts` must be sorted by name, which orders equal keys. An unknown column changes nothing. */
  of(hosts: readonly Host[], columns: readonly HostColumn[], { column, down }: Sort): readonly Host[] {
    const order = [...columns, ...COLUMNS].find(({ id }) => id === column)?.order;
    if (!order) return hosts;
    if (order !== this.#order || down !== this.#down) this.#forget(order, down);
    const { removed, added: newHosts } = diffHosts(this.#hosts, hosts);
    const left = new Set(removed);
    const compare = comparison(down);
    const kept = left.size > 0 ? this.#entries.filter(({ host }) => !left.has(host)) : this.#entries;
    const added = newHosts.map((host) => ({ host, key: order(host) })).sort(compare);
    this.#entries = merged(kept, added, compare);
    this.#hosts = hosts;
    return this.#entries.map(({ host }) => host);
  }

  #forget(order: HostColumn['order'], down: boolean): void {
    this.#hosts = [];
    this.#entries = [];
    this.#order = order;
    this.#down = down;
  }
}

function comparison(down: boolean): Compare {
  const sign = down ? -1 : 1;
  return (a, b) => {
    if (a.key !== b.key) return a.key < b.key ? -sign : sign;
    return a.host.metadata.name < b.host.metadata.name ? -1 : 1;
  };
}

function merged(kept: readonly Entry[], added: readonly Entry[], compare: Compare): readonly Entry[] {
  if (added.length === 0) return kept;
  const all: Entry[] = [];
  let next = 0;
  for (const entry of kept) {
    for (let first = added[next]; first && compare(first, entry) < 0; first = added[next]) {
      all.push(first);
      next += 1;
    }
    all.push(entry);
  }
  return [...all, ...added.slice(next)];
}
