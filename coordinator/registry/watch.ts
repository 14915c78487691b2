/** watch: the store's changes as events of one selection. */
import type { KubeObject } from '../../shared/kube/meta.js';
import type { Kind } from '../kinds/kind.js';
import type { Change, StoreWatch } from '../store/store.js';
import { recordsOf } from './change-records.js';
import { keyOf, prefixOf } from './keys.js';
import { list } from './read.js';
import type { ObjectRecord, RecordList, RegistryWatch, WatchEvent, WatchRequest } from './registry.js';
import type { RegistryParts } from './registry-parts.js';
import { parseResourceVersion, refuseFuture } from './resource-version.js';
import { type CompiledSelection, compileSelection } from './selection.js';
import { methodNotAllowed, readError } from './store-errors.js';

/** Initial events handed over at once. */
const INITIAL_PAGE = 500;

/**
 * Opens a watch. Without a resourceVersion, or with initial events asked for, it begins with ADDED for what
 * is there. Throws 400 and 504 at once; 410 comes from the iteration.
 */
export async function watch<T extends KubeObject>(
  parts: RegistryParts,
  kind: Kind<T>,
  request: WatchRequest = {},
): Promise<RegistryWatch<T>> {
  if (kind.reader) throw methodNotAllowed();
  const selection = compileSelection(kind, request);
  const after = parseResourceVersion(request.resourceVersion);
  await refuseFuture(parts.store, after);
  const initial = request.sendInitialEvents === true || after === 0;
  // `false` together with no revision asks for changes from now on only.
  const wanted = initial && request.sendInitialEvents !== false;
  if (!wanted) {
    return new SelectionWatch(parts, kind, request, selection, {
      after: after || (await parts.store.revision()),
    });
  }
  const { namespace, labelSelector, fieldSelector } = request;
  const present = await list(parts, kind, {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  });
  return new SelectionWatch(parts, kind, request, selection, {
    after: Number(present.resourceVersion),
    present,
    marksEnd: request.sendInitialEvents === true,
  });
}

interface Start<T extends KubeObject> {
  /** Changes after this revision follow. */
  after: number;
  present?: RecordList<T>;
  /** Whether a bookmark ends the initial events (watch-list). */
  marksEnd?: boolean;
}

class SelectionWatch<T extends KubeObject> implements RegistryWatch<T> {
  readonly #source: StoreWatch;
  #closed = false;

  constructor(
    parts: RegistryParts,
    kind: Kind<T>,
    { namespace }: WatchRequest,
    private readonly selection: CompiledSelection<T>,
    private readonly start: Start<T>,
  ) {
    const only = namespace !== undefined && selection.name;
    const ref = only ? { namespace, name: only } : undefined;
    const prefix = ref ? keyOf(kind, ref) : prefixOf(kind, namespace);
    this.#source = parts.store.watch(prefix, { after: start.after });
  }

  close(): void {
    this.#closed = true;
    this.#source.close();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WatchEvent<T>[]> {
    try {
      yield* this.#initial();
      for await (const batch of this.#source) {
        if (this.#closed) return;
        const events = batch.changes.flatMap((change) => this.#eventOf(change));
        const last = batch.changes.at(-1)?.revision ?? 0;
        if (events.length === 0 || last < batch.revision) {
          events.push({ type: 'BOOKMARK', revision: batch.revision, initialEnd: false });
        }
        yield events;
      }
    } catch (error) {
      throw readError(error);
    } finally {
      this.close();
    }
  }

  *#initial(): Generator<WatchEvent<T>[]> {
    const records = this.start.present?.records ?? [];
    for (let from = 0; from < records.length && !this.#closed; from += INITIAL_PAGE) {
      yield records.slice(from, from + INITIAL_PAGE).map((record) => ({ type: 'ADDED', record }));
    }
    if (!this.start.present) return;
    yield [{ type: 'BOOKMARK', revision: this.start.after, initialEnd: this.start.marksEnd === true }];
  }

  /** An object that comes into the selection is ADDED, one that leaves it is DELETED with its last state. */
  #eventOf(change: Change): WatchEvent<T>[] {
    const { current, previous } = recordsOf<T>(change);
    const matches = (record: ObjectRecord<T> | undefined) =>
      record !== undefined && this.selection.matches(change.key, record);
    const matched = matches(previous);
    if (current && matches(current)) return [{ type: matched ? 'MODIFIED' : 'ADDED', record: current }];
    return matched && previous ? [{ type: 'DELETED', record: previous }] : [];
  }
}
