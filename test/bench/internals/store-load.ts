/** Writers for the product's store, and the store. */
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import type { Store } from '../../../coordinator/store/store.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';

/** About the size of a Pod of a DaemonSet. */
export const VALUE_BYTES = 2_000;

export function openStore(dataDir: string): Promise<Store> {
  return openSqliteStore({ dataDir, clock: systemClock, log: silentLogger });
}

export function podKeys(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `/registry/core/pods/default/pod-${index}`);
}

/** A different value in each turn: SQLite skips writes of equal values. */
export function podValue(turn: number): Buffer {
  return Buffer.from(String(turn).padStart(VALUE_BYTES, 'a'));
}

/** Each writer waits for its own write before the next one, like controllers. */
export async function writeAll(
  keys: readonly string[],
  writers: number,
  write: (key: string) => Promise<unknown>,
): Promise<void> {
  const left = keys.values();
  const writer = async (): Promise<void> => {
    for (const key of left) await write(key);
  };
  await Promise.all(Array.from({ length: writers }, writer));
}
