/** The cache of one kind. `createInformers` feeds it. */
import { type KubeObject, type ObjectRef, refText } from '../../shared/kube/objects/meta.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { ObjectRecord } from '../registry/registry.js';
import type { Informer, ObjectChange } from './informer.js';
import { Index, type IndexFunctions } from './informer-indexes.js';

type Handler<T extends KubeObject> = (change: ObjectChange<T>) => void;

/** The progress of the feed, shared by all caches. */
export interface Progress {
  synced(): Promise<void>;
  waitFor(revision: number): Promise<void>;
}

export class CachedInformer<T extends KubeObject> implements Informer<T> {
  readonly #objects = new Map<string, T>();
  readonly #keysByUid = new Map<string, string>();
  readonly #indexes: ReadonlyMap<string, Index<T>>;
  readonly #handlers: Handler<T>[] = [];
  readonly #progress: Progress;
  readonly #log: Logger;

  /** `keep` returns the part of an object that stays in memory. Its second argument is the object before the change. */
  constructor(
    indexes: IndexFunctions<T>,
    progress: Progress,
    log: Logger,
    private readonly keep: (object: T, previous?: T) => T = (object) => object,
  ) {
    this.#indexes = new Map(Object.entries(indexes).map(([name, indexBy]) => [name, new Index(indexBy)]));
    this.#progress = progress;
    this.#log = log;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(ref: ObjectRef): T | undefined {
    return this.#objects.get(refText(ref));
  }

  byUid(uid: string): T | undefined {
    return this.#objects.get(this.#keysByUid.get(uid) ?? '');
  }

  list(): Iterable<T> {
    return this.#objects.values();
  }

  indexed(index: string, value: string): readonly T[] {
    return this.#indexes.get(index)?.lookup(value) ?? [];
  }

  onChange(handler: Handler<T>): void {
    this.#handlers.push(handler);
    for (const current of this.#objects.values()) this.#call(handler, { current });
  }

  synced(): Promise<void> {
    return this.#progress.synced();
  }

  waitFor(revision: number): Promise<void> {
    return this.#progress.waitFor(revision);
  }

  /** Applies one change and calls the handlers. A replaced object is reported as deleted first. */
  apply(record: ObjectRecord<T>, type: 'ADDED' | 'MODIFIED' | 'DELETED'): void {
    const changed = record.object();
    const key = refText(changed.metadata);
    const previous = this.#objects.get(key);
    if (type === 'DELETED') {
      if (previous) this.#replace(key, previous, undefined);
      return;
    }
    const object = this.keep(changed, previous);
    const isOther = previous !== undefined && previous.metadata.uid !== object.metadata.uid;
    if (isOther) this.#replace(key, previous, undefined);
    this.#replace(key, isOther ? undefined : previous, object);
  }

  /** Removes the objects that a new list lacks. */
  retain(keys: ReadonlySet<string>): void {
    for (const [key, previous] of this.#objects) {
      if (!keys.has(key)) this.#replace(key, previous, undefined);
    }
  }

  #replace(key: string, previous: T | undefined, current: T | undefined): void {
    if (current) this.#objects.set(key, current);
    else this.#objects.delete(key);
    if (previous?.metadata.uid) this.#keysByUid.delete(previous.metadata.uid);
    if (current?.metadata.uid) this.#keysByUid.set(current.metadata.uid, key);
    for (const index of this.#indexes.values()) index.replace(key, previous, current);
    const change = { ...(previous && { previous }), ...(current && { current }) };
    for (const handler of this.#handlers) this.#call(handler, change);
  }

  /** Handlers only queue keys. If one throws because of a bug, the others must still run. */
  #call(handler: Handler<T>, change: ObjectChange<T>): void {
    try {
      handler(change);
    } catch (error) {
      this.#log.error({ err: error }, 'informer handler failed');
    }
  }
}
