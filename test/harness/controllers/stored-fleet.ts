/** A large fleet on paper: hosts written straight into a data directory before a coordinator runs on it. None has an agent. */
import { mkdirSync } from 'node:fs';
import { ALL_KINDS, nodeKind } from '../../../coordinator/kinds/index.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';

/** Name of a stored host: in order of names as in order of indexes. */
export function storedHostName(index: number): string {
  return `host-${String(index).padStart(5, '0')}`;
}

/** Writes `count` Nodes, `host-00000` and so on. Creates the directory. */
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
