/** A registry over a memory store with a manual clock. */

import { ALL_KINDS, namespaceKind } from '../../../coordinator/kinds/index.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import type { Registry, RegistryWatch, WatchEvent } from '../../../coordinator/registry/registry.js';
import type { Store } from '../../../coordinator/store/store.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { MemoryStore } from './memory-store.js';

export const START_MS = Date.parse('2026-01-02T03:04:05Z');

export interface TestRegistry {
  registry: Registry;
  store: Store;
  clock: ManualClock;
}

/** Returns a registry with the namespace `default`. */
export async function testRegistry(store: Store = new MemoryStore()): Promise<TestRegistry> {
  const clock = new ManualClock(START_MS);
  const registry = createRegistry({ store, kinds: ALL_KINDS, clock, log: silentLogger });
  await registry.create(namespaceKind, undefined, { metadata: { name: 'default' } });
  return { registry, store, clock };
}

/** Returns the ApiError that `action` rejects with. Throws if it does not. */
export async function refusal(action: Promise<unknown>): Promise<ApiError> {
  const outcome = await action.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof ApiError) return outcome;
  throw new Error(`expected an ApiError, got ${String(outcome)}`);
}

/** Returns `TYPE name` of an event, or `BOOKMARK`. */
export function eventText(event: WatchEvent<KubeObject>): string {
  return event.type === 'BOOKMARK' ? 'BOOKMARK' : `${event.type} ${event.record.object().metadata.name}`;
}

/** Reads a watch until `count` events other than progress bookmarks have arrived, then closes it. */
export async function takeEvents<T extends KubeObject>(
  watch: RegistryWatch<T>,
  count: number,
): Promise<WatchEvent<T>[]> {
  const taken: WatchEvent<T>[] = [];
  for await (const batch of watch) {
    taken.push(...batch.filter((event) => event.type !== 'BOOKMARK' || event.initialEnd));
    if (taken.length >= count) break;
  }
  watch.close();
  return taken;
}
