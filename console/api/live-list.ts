/** A watched list as React sees it: an unchanging snapshot at a time, renewed at most once a frame. */
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { KubeObject } from '../../shared/kube/meta.js';
import type { CallError } from './call.js';
import { type WatchEvent, type WatchPhase, watch } from './watch.js';

export interface Live<T> {
  /** In order of namespace and name. The same array as long as nothing changed. */
  objects: readonly T[];
  phase: WatchPhase;
  error?: CallError | undefined;
}

export class LiveList<T extends KubeObject> {
  readonly #path: string;
  readonly #byKey = new Map<string, T>();
  /** Keys in order; absent when one has come or gone since. Sorting ten thousand names takes longer than a frame has. */
  #order: string[] | undefined;
  readonly #listeners = new Set<() => void>();
  #live: Live<T> = { objects: [], phase: 'loading' };
  /** What the next picture says; shown with its objects, never before them. */
  #phase: Pick<Live<T>, 'phase' | 'error'> = { phase: 'loading' };
  #changed = false;
  #frame = 0;
  #leave: AbortController | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  readonly snapshot = (): Live<T> => this.#live;

  /** Watches while anybody listens. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (!this.#leave) this.#begin();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#leave?.abort();
      this.#leave = undefined;
    };
  };

  #begin(): void {
    this.#leave = new AbortController();
    const reader = {
      onReset: (objects: T[]) => {
        this.#byKey.clear();
        this.#order = undefined;
        for (const object of objects) this.#byKey.set(keyOf(object), object);
        this.#changed = true;
      },
      onEvents: (events: WatchEvent<T>[]) => {
        for (const { type, object } of events) {
          const key = keyOf(object);
          if (this.#byKey.has(key) === (type === 'DELETED')) this.#order = undefined;
          if (type === 'DELETED') this.#byKey.delete(key);
          else this.#byKey.set(key, object);
        }
        this.#changed = true;
        this.#tellSoon();
      },
      onPhase: (phase: WatchPhase, error?: CallError) => {
        this.#phase = { phase, error };
        this.#tellSoon();
      },
    };
    void watch<T>(this.#path, reader, this.#leave.signal);
  }

  /** A hundred changes a second are sixty pictures at most. */
  #tellSoon(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#live = { objects: this.#changed ? this.#inOrder() : this.#live.objects, ...this.#phase };
      this.#changed = false;
      for (const listener of this.#listeners) listener();
    });
  }

  #inOrder(): T[] {
    this.#order ??= [...this.#byKey.keys()].sort();
    return this.#order.flatMap((key) => this.#byKey.get(key) ?? []);
  }
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** Watches `path` while the component is on the screen. */
export function useLiveList<T extends KubeObject>(path: string): Live<T> {
  const list = useMemo(() => new LiveList<T>(path), [path]);
  return useSyncExternalStore(list.subscribe, list.snapshot);
}

/** Calls `refresh` each interval while the component is on the screen. */
export function useEvery(intervalMs: number, refresh: () => void): void {
  useEffect(() => {
    const timer = setInterval(refresh, intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs, refresh]);
}
