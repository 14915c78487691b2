/** The verb watch: changes of the store as events of one selection. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import type { Change, StoreWatch } from '../../store/store.js';
import { recordsOf } from '../encoding/object-record.js';
import type { ObjectRecord, RegistryDeps, RegistryWatch, WatchEvent } from '../registry.js';
import { readError } from '../registry-errors.js';
import type { WatchRequest } from '../registry-options.js';
import { keyOf, prefixOf } from '../storage-keys.js';
import { refuseComputed } from './computed-objects.js';
import { type CompiledSelection, compileSelection } from './object-selection.js';
import { listObjects } from './read-objects.js';
import { parseResourceVersion, refuseFuture } from './resource-version.js';

/** Initial events in one batch. */
const INITIAL_PAGE = 500;

/**
 * Opens a watch. Without a resourceVersion, or with sendInitialEvents, it begins with ADDED events for the present
 * objects. Throws 400 and 504 at once; the iteration throws 410.
 */
export async function watch<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  request: WatchRequest = {},
): Promise<RegistryWatch<T>> {
  refuseComputed(kind, request.namespace);
  const selection = compileSelection(kind, request);
  const after = parseResourceVersion(request.resourceVersion);
  await refuseFuture(deps.store, after);
  // `sendInitialEvents: false` without a revision requests only changes from now on.
  const wantsPresent = request.sendInitialEvents ?? after === 0;
  const start = wantsPresent
    ? await presentState(deps, kind, request)
    : { after: after || (await deps.store.revision()), marksEnd: false };
  return new SelectionWatch(deps, kind, request.namespace, selection, start);
}

interface Start<T extends KubeObject> {
  /** The watch reports changes after this revision. */
  after: number;
  /** The objects at that revision, if the client wants them. A bookmark follows them. */
  present?: ObjectRecord<T>[];
  /** True if that bookmark must carry the watch-list annotation. */
  marksEnd: boolean;
}

async function presentState<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  { sendInitialEvents, resourceVersion: _after, ...selection }: WatchRequest,
): Promise<Start<T>> {
  const { records, resourceVersion } = await listObjects(deps, kind, selection);
  return { after: Number(resourceVersion), present: records, marksEnd: sendInitialEvents === true };
}

class SelectionWatch<T extends KubeObject> implements RegistryWatch<T> {
  readonly #source: StoreWatch;
  #closed = false;

  constructor(
    deps: RegistryDeps,
    kind: Kind<T>,
    namespace: string | undefined,
    private readonly selection: CompiledSelection<T>,
    private readonly start: Start<T>,
  ) {
    const prefix = selection.only ? keyOf(kind, selection.only) : prefixOf(kind, namespace);
    this.#source = deps.store.watch(prefix, { after: start.after });
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
        if (lastRevision(events) < batch.revision) {
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
    const { after, present, marksEnd } = this.start;
    if (!present) return;
    // Remove the records from the list, because the watch can live much longer than they are needed.
    while (present.length > 0 && !this.#closed) {
      yield present.splice(0, INITIAL_PAGE).map((record) => ({ type: 'ADDED', record }));
    }
    yield [{ type: 'BOOKMARK', revision: after, initialEnd: marksEnd }];
  }

  /** An object that enters the selection is ADDED. An object that leaves it is DELETED with its last state. */
  #eventOf(change: Change): WatchEvent<T>[] {
    const { current, previous } = recordsOf<T>(change);
    const matches = (record: ObjectRecord<T> | undefined) =>
      record !== undefined && this.selection.matches(change.key, record);
    const matched = matches(previous);
    if (current && matches(current)) return [{ type: matched ? 'MODIFIED' : 'ADDED', record: current }];
    return matched && previous ? [{ type: 'DELETED', record: previous }] : [];
  }
}

function lastRevision<T extends KubeObject>(events: readonly WatchEvent<T>[]): number {
  const last = events.at(-1);
  if (!last) return 0;
  return last.type === 'BOOKMARK' ? last.revision : last.record.revision;
}
