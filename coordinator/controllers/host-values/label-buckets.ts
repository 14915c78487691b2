/** Finds the selectors that may match a node without a scan of all: by one label that each of them requires. */
import type { LabelSelector } from '../../../shared/kube/objects/selectors.js';

/** Bucket of selectors that require no single label. */
const ANY = '';
const HOSTNAME = 'kubernetes.io/hostname';

export class LabelBuckets<T> {
  readonly #buckets = new Map<string, T[]>();

  get isEmpty(): boolean {
    return this.#buckets.size === 0;
  }

  add(selector: LabelSelector | undefined, item: T): void {
    push(this.#buckets, bucketOf(selector), item);
  }

  /** Returns the items whose selector may match these labels, and no others with that label. */
  candidates(labels: Readonly<Record<string, string>>): T[] {
    if (this.isEmpty) return [];
    const buckets = [ANY, ...Object.entries(labels).map(([label, value]) => `${label}=${value}`)];
    return buckets.flatMap((bucket) => this.#buckets.get(bucket) ?? []);
  }
}

/** The host's name divides a fleet best. */
function bucketOf(selector: LabelSelector | undefined): string {
  const pairs = Object.entries(selector?.matchLabels ?? {});
  const [label, value] = pairs.find(([name]) => name === HOSTNAME) ?? pairs[0] ?? [];
  return label === undefined ? ANY : `${label}=${value}`;
}

/** Appends the item to the list of the key. */
export function push<T>(map: Map<string, T[]>, key: string, item: T): void {
  const list = map.get(key);
  if (list) list.push(item);
  else map.set(key, [item]);
}
