/** What informers can be asked besides names: which objects share a value. */
import { controllerOf, type KubeObject } from '../../shared/kube/meta.js';
import { type Pod, targetNodeOf } from '../../shared/kube/pod.js';
import { BY_NAMESPACE, BY_OWNER, PODS_BY_NODE, PODS_BY_TARGET_NODE } from './informer.js';

/** The value under which an object is found; undefined = under none. */
export type IndexFunction<T extends KubeObject> = (object: T) => string | undefined;

export type IndexFunctions<T extends KubeObject> = Readonly<Record<string, IndexFunction<T>>>;

/** Indexes that every namespaced kind has. */
export const COMMON_INDEXES: IndexFunctions<KubeObject> = {
  [BY_OWNER]: (object) => controllerOf(object.metadata)?.uid,
  [BY_NAMESPACE]: (object) => object.metadata.namespace,
};

export const POD_INDEXES: IndexFunctions<Pod> = {
  ...COMMON_INDEXES,
  [PODS_BY_NODE]: (pod) => pod.spec.nodeName,
  [PODS_BY_TARGET_NODE]: targetNodeOf,
};

/** One index, kept up by its cache. */
export class Index<T extends KubeObject> {
  readonly #indexBy: IndexFunction<T>;
  readonly #buckets = new Map<string, Map<string, T>>();

  constructor(indexBy: IndexFunction<T>) {
    this.#indexBy = indexBy;
  }

  replace(key: string, previous: T | undefined, current: T | undefined): void {
    const before = previous && this.#indexBy(previous);
    const after = current && this.#indexBy(current);
    if (before !== undefined && before !== after) this.#remove(before, key);
    if (current && after !== undefined) this.#bucket(after).set(key, current);
  }

  under(value: string): readonly T[] {
    return [...(this.#buckets.get(value)?.values() ?? [])];
  }

  #bucket(value: string): Map<string, T> {
    let bucket = this.#buckets.get(value);
    if (!bucket) {
      bucket = new Map();
      this.#buckets.set(value, bucket);
    }
    return bucket;
  }

  #remove(value: string, key: string): void {
    const bucket = this.#buckets.get(value);
    bucket?.delete(key);
    if (bucket?.size === 0) this.#buckets.delete(value);
  }
}
