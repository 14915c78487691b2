/**
 * A large fleet without agents: its hosts are written directly into a data directory before a coordinator starts on it.
 */
import { mkdirSync } from 'node:fs';
import { ALL_KINDS, nodeKind } from '../../../coordinator/kinds/index.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';

/** Returns the name of a stored host. Names sort like indexes. */
export function storedHostName(index: number): string {
  return `host-${String(index).padStart(5, '0')}`;
}

/** Creates the directory and writes `count` Nodes, `host-00000` and so on. */
export async function storeHosts(
  dataDir: string,
  count: number,
  labelsOf: (index: number) => Record<string, string>,
): Promise<void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const parts = { clock: systemClock, log: silentLogger };
  const store = await openSqliteStore({ dataDir, ...parts });
  const registry = createRegistry({ store, kinds: ALL_KINDS, ...parts });
  try {
    const one = (index: number) =>
      registry.create(nodeKind, undefined, {
        metadata: { name: storedHostName(index), labels: labelsOf(index) },
      });
    await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  } finally {
    await store.close();
  }
}
