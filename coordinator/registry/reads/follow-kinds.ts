/** Follows the store's log for several kinds, so that their caches advance together. */
import type { Kind } from '../../kinds/kind.js';
import type { Change, StoreWatch } from '../../store/store.js';
import { recordsOf } from '../encoding/object-record.js';
import type { KindChange, KindChanges, KindTail, RegistryDeps } from '../registry.js';
import { readError } from '../registry-errors.js';
import { ROOT_PREFIX, resourcePathOf } from '../storage-keys.js';

type KindAt = (resourcePath: string) => Kind | undefined;

/** See `Registry.follow`. The iteration throws a 410 if that history was compacted. */
export function follow(deps: RegistryDeps, kindAt: KindAt, revision: number): KindTail {
  return new StoreTail(deps.store.watch(ROOT_PREFIX, { after: revision }), kindAt);
}

class StoreTail implements KindTail {
  constructor(
    private readonly source: StoreWatch,
    private readonly kindAt: KindAt,
  ) {}

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
    const kind = this.kindAt(resourcePathOf(change.key));
    if (!kind) return [];
    const { current, previous } = recordsOf(change);
    if (current) return [{ kind, type: previous ? 'MODIFIED' : 'ADDED', record: current }];
    return previous ? [{ kind, type: 'DELETED', record: previous }] : [];
  }
}
