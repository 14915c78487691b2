/** A watched list as a React store: immutable snapshots, updated at most once in each animation frame or second. */
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import type { ApiCallError } from './api-call.js';
import { reportContact } from './coordinator-contact.js';
import { type WatchEvent, type WatchPhase, watch } from './list-watch.js';

/** Browsers draw no frames for hidden tabs, whose titles count problems. */
const MOST_WAIT_MS = 1_000;

export interface Live<T> {
  /** Sorted by namespace and name. The same array until something changes. */
  objects: readonly T[];
  phase: WatchPhase;
  error?: ApiCallError | undefined;
}

export class LiveList<T extends KubeObject> {
  readonly #path: string | undefined;
  /** Sorted keys, in the order of `#objects`. Binary insertion, because sorting ten thousand keys is slow. */
  #keys: string[] = [];
  #objects: T[] = [];
  readonly #listeners = new Set<() => void>();
  #live: Live<T> = { objects: [], phase: 'loading' };
  /** Phase of the next snapshot. Published together with its objects. */
  #phase: Pick<Live<T>, 'phase' | 'error'> = { phase: 'loading' };
  #changed = false;
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort: AbortController | undefined;

  constructor(path: string | undefined) {
    this.#path = path;
  }

  readonly snapshot = (): Live<T> => this.#live;

  /** Watches while there is a listener. A refused list is requested again for a new listener: rights may have changed. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if ((!this.#abort || this.#phase.phase === 'refused') && this.#path !== undefined) {
      shared.set(this.#path, this as LiveList<KubeObject>);
      this.#startWatch(this.#path);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#abort?.abort();
      this.#abort = undefined;
      if (this.#path !== undefined && shared.get(this.#path) === this) shared.delete(this.#path);
      reportContact(this, false);
    };
  };

  #startWatch(path: string): void {
    this.#abort = new AbortController();
    // Several listeners subscribe together, and cause one request. Snapshots keep the last phase until the answer.
    this.#phase = { phase: 'loading' };
    const reader = {
      onReset: (objects: T[]) => {
        const byKey = new Map(objects.map((object) => [keyOf(object), object]));
        this.#keys = [...byKey.keys()].sort();
        this.#objects = this.#keys.flatMap((key) => byKey.get(key) ?? []);
        this.#changed = true;
      },
      onEvents: (events: WatchEvent<T>[]) => {
        for (const event of events) this.#apply(event);
        this.#changed = true;
        this.#publishSoon();
      },
      onPhase: (phase: WatchPhase, error?: ApiCallError) => {
        this.#phase = { phase, error };
        reportContact(this, phase === 'lost');
        this.#publishSoon();
      },
    };
    void watch<T>(path, reader, this.#abort.signal);
  }

  /** Publishes in the next animation frame, so that many changes cause only one render. Without frames, after a second. */
  #publishSoon(): void {
    if (this.#timer !== undefined) return;
    this.#frame = requestAnimationFrame(() => this.#publish());
    this.#timer = setTimeout(() => this.#publish(), MOST_WAIT_MS);
  }

  #publish(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#live = { objects: this.#changed ? [...this.#objects] : this.#live.objects, ...this.#phase };
    this.#changed = false;
    for (const listener of this.#listeners) listener();
  }

  #apply({ type, object }: WatchEvent<T>): void {
    const key = keyOf(object);
    const at = indexOfKey(this.#keys, key);
    const known = this.#keys[at] === key ? 1 : 0;
    const isGone = type === 'DELETED';
    this.#keys.splice(at, known, ...(isGone ? [] : [key]));
    this.#objects.splice(at, known, ...(isGone ? [] : [object]));
  }
}

/** Returns the index of `key` in the sorted `keys`, or the index at which to insert it. */
function indexOfKey(keys: readonly string[], key: string): number {
  let from = 0;
  let to = keys.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((keys[middle] ?? '') < key) from = middle + 1;
    else to = middle;
  }
  return from;
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/**
 * Lists by path. Components that show the same list share its watch: the list of hosts is large, and the inbox needs it on
 * every page.
 */
const shared = new Map<string, LiveList<KubeObject>>();

function sharedList<T extends KubeObject>(path: string | undefined): LiveList<T> {
  if (path === undefined) return new LiveList<T>(path);
  const list = (shared.get(path) as LiveList<T> | undefined) ?? new LiveList<T>(path);
  // Also before it is watched, because components of one page ask at the same time.
  shared.set(path, list as LiveList<KubeObject>);
  return list;
}

/** Watches `path` while the component is mounted. Without a path, nothing is requested, and the list stays empty. */
export function useLiveList<T extends KubeObject>(path: string | undefined): Live<T> {
  const list = useMemo(() => sharedList<T>(path), [path]);
  return useSyncExternalStore(list.subscribe, list.snapshot);
}

/** Calls `refresh` at each interval while the component is mounted. */
export function useInterval(intervalMs: number, refresh: () => void): void {
  useEffect(() => {
    const timer = setInterval(refresh, intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs, refresh]);
}
