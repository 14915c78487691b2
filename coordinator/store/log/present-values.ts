/** The values of one moment in key order, held in memory. */
import sortedBTree from 'sorted-btree';
import type { Change, StoredList, StoredValue } from '../store.js';

const BTree = sortedBTree.default;

const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Above every key that starts with `prefix`. */
const endOf = (prefix: string): string => `${prefix}\uffff`;

/** The values of some moment. */
export class OrderedValues {
  readonly #tree;

  constructor(tree = new BTree<string, StoredValue>(undefined, compareKeys)) {
    this.#tree = tree;
  }

  set(key: string, value: StoredValue | undefined): void {
    if (value) this.#tree.set(key, value);
    else this.#tree.delete(key);
  }

  /** Values in key order whose key starts with `prefix` and is greater than `afterKey`: at most `limit`, and how many follow. */
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

  /** The same values as they were before `changes` (newest first), which are undone on a copy that shares what is equal. */
  before(changes: Iterable<Pick<Change, 'key' | 'previous'>>): OrderedValues {
    const past = new OrderedValues(this.#tree.clone());
    for (const { key, previous } of changes) past.set(key, previous);
    return past;
  }
}

/** Those of now, which are also asked for by key: several times a write, and a tree compares some twenty keys an answer. */
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
