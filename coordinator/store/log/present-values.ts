/** Values in key order, in memory. */
import sortedBTree from 'sorted-btree';
import type { Change, StoredList, StoredValue } from '../store.js';

const BTree = sortedBTree.default;

const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Returns a key above every key that starts with `prefix`. */
const endOf = (prefix: string): string => `${prefix}\uffff`;

/** The values of one revision. */
export class OrderedValues {
  readonly #tree;

  constructor(tree = new BTree<string, StoredValue>(undefined, compareKeys)) {
    this.#tree = tree;
  }

  set(key: string, value: StoredValue | undefined): void {
    if (value) this.#tree.set(key, value);
    else this.#tree.delete(key);
  }

  /** Returns at most `limit` values with this prefix after `afterKey`, in key order, and how many remain. */
  list(prefix: string, afterKey?: string, limit = Number.POSITIVE_INFINITY): Omit<StoredList, 'revision'> {
    const items: StoredValue[] = [];
    const start = afterKey === undefined || afterKey < prefix ? prefix : afterKey;
    const end = endOf(prefix);
    let next: string | undefined;
    this.#tree.forRange(start, end, false, (key, value) => {
      if (key === afterKey) return undefined;
      if (items.length >= limit) {
        next = key;
        return { break: true };
      }
      items.push(value);
      return undefined;
    });
    if (next === undefined) return { items };
    return { items, remaining: this.#tree.forRange(next, end, false) };
  }

  /** Returns the values as they were before `changes` (newest first). The copy shares unchanged nodes. */
  before(changes: Iterable<Pick<Change, 'key' | 'previous'>>): OrderedValues {
    const past = new OrderedValues(this.#tree.clone());
    for (const { key, previous } of changes) past.set(key, previous);
    return past;
  }
}

/** Adds a hash map: each write reads several keys, and the tree needs about twenty comparisons per read. */
export class PresentValues extends OrderedValues {
  readonly #byKey = new Map<string, StoredValue>();

  get(key: string): StoredValue | undefined {
    return this.#byKey.get(key);
  }

  override set(key: string, value: StoredValue | undefined): void {
    super.set(key, value);
    if (value) this.#byKey.set(key, value);
    else this.#byKey.delete(key);
  }
}
