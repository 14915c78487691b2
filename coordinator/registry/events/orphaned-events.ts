/** Events that remain of a deleted Namespace. */
import type { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { eventKind } from '../../kinds/index.js';
import type { Store } from '../../store/store.js';
import { namespaceKey, refOf } from '../storage-keys.js';
import type { StoredEvent } from './event-record.js';

/** Yields the keys of Events whose Namespace the main store does not have. Reads each Namespace once. */
export async function* orphanedEvents(
  events: Iterable<StoredEvent>,
  main: Pick<Store, 'get'>,
  slice: TimeSlice,
): AsyncGenerator<string> {
  const exists = new Map<string, boolean>();
  for (const { key } of events) {
    const { namespace = '' } = refOf(eventKind, key);
    if (!exists.has(namespace)) {
      const stored = await main.get(namespaceKey(namespace));
      exists.set(namespace, stored !== undefined);
    }
    if (!exists.get(namespace)) yield key;
    await slice.yieldIfUsedUp();
  }
}
