/** Keeps a list up to date over lost connections, like an informer. */
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { ApiCallError } from './api-call.js';
import { readLines } from './api-stream.js';

export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: T;
}

/** `live`: the list is current. `lost`: it may be outdated. `refused`: the request was rejected permanently. */
export type WatchPhase = 'loading' | 'live' | 'lost' | 'refused';

interface WatchReader<T> {
  /** A new initial list. Objects that it lacks are deleted. */
  onReset(objects: T[]): void;
  onEvents(events: WatchEvent<T>[]): void;
  onPhase(phase: WatchPhase, error?: ApiCallError): void;
}

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

/** Watches `path` until `signal` aborts. Each connection starts with the whole list. */
export async function watch<T extends KubeObject>(
  path: string,
  reader: WatchReader<T>,
  signal: AbortSignal,
): Promise<void> {
  let retryMs = FIRST_RETRY_MS;
  while (!signal.aborted) {
    try {
      await readOnce(path, reader, signal);
      retryMs = FIRST_RETRY_MS;
    } catch (error) {
      if (signal.aborted) return;
      const refused = error instanceof ApiCallError && REFUSALS.has(error.code);
      reader.onPhase(refused ? 'refused' : 'lost', error instanceof ApiCallError ? error : undefined);
      if (refused) return;
      await wait(retryMs, signal);
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    }
  }
}

async function readOnce<T extends KubeObject>(
  path: string,
  reader: WatchReader<T>,
  signal: AbortSignal,
): Promise<void> {
  const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const url = `${path}${path.includes('?') ? '&' : '?'}watch=true&${query}`;
  let initial: T[] | undefined = [];
  for await (const lines of readLines(url, signal)) {
    const events = lines.map((line) => JSON.parse(line) as WatchEvent<T>);
    const failed = events.find(({ type }) => type === 'ERROR');
    if (failed) throw new ApiCallError(410, 'Expired', 'the watch must restart');
    const endsAt: number = initial ? events.findIndex(isInitialEnd) : -1;
    if (initial && endsAt < 0) {
      for (const { object } of events) initial.push(object);
      continue;
    }
    if (initial) {
      reader.onReset([...initial, ...events.slice(0, endsAt).map(({ object }) => object)]);
      reader.onPhase('live');
      initial = undefined;
    }
    const changes = events.slice(endsAt + 1).filter(({ type }) => type !== 'BOOKMARK');
    if (changes.length > 0) reader.onEvents(changes);
  }
}

function isInitialEnd<T extends KubeObject>({ type, object }: WatchEvent<T>): boolean {
  return type === 'BOOKMARK' && object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
}

function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal.addEventListener('abort', done);
  });
}
