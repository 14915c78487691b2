/** Follows the store's log for several kinds, so that their caches advance together. */
import type { Kind } from '../../kinds/kind.js';
import type { Change, StoreWatch } from '../../store/store.js';
import { recordsOf } from '../encoding/object-record.js';
import type { KindChange, KindChanges, KindTail, RegistryDeps } from '../registry.js';
import { readError } from '../registry-errors.js';
import { ROOT_PREFIX, resourcePath, resourcePathOf } from '../storage-keys.js';

/** Returns every change of `kinds` after `revision`. The iteration throws a 410 if that history was compacted. */
export function follow(deps: RegistryDeps, kinds: readonly Kind[], revision: number): KindTail {
  return new StoreTail(deps.store.watch(ROOT_PREFIX, { after: revision }), kinds);
}

class StoreTail implements KindTail {
  readonly #kinds: ReadonlyMap<string, Kind>;

  constructor(
    private readonly source: StoreWatch,
    kinds: readonly Kind[],
  ) {
    this.#kinds = new Map(kinds.map((kind) => [resourcePath(kind), kind]));
  }

  close(): void {
    this.source.close();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<KindChanges> {
    try {
      for await (const { changes, revision } of this.source) {
        yield { changes: changes.flatMap((change) => this.#told(change)), revision };
      }
    } catch (error) {
      throw readError(error);
    } finally {
      this.close();
    }
  }

  #told(change: Change): KindChange[] {
    const kind = this.#kinds.get(resourcePathOf(change.key));
    if (!kind) return [];
    const { current, previous } = recordsOf(change);
    if (current) return [{ kind, type: previous ? 'MODIFIED' : 'ADDED', record: current }];
    return previous ? [{ kind, type: 'DELETED', record: previous }] : [];
  }
}
