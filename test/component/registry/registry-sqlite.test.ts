/** The registry over SQLite: what depends on how a store commits and keeps history. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { configMapKind } from '../../../coordinator/kinds/index.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { eventText, takeEvents, testRegistry } from '../../harness/controllers/registry-fixture.js';
import { configMapObject } from '../../harness/objects/object-builders.js';

const REF = { namespace: 'default', name: 'a' };

test('concurrent writers in one group commit lose nothing, and a watcher sees each write once', async (context) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'everynode-registry-'));
  const store = await openSqliteStore({ dataDir, log: silentLogger, clock: systemClock });
  context.after(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true });
  });
  const { registry } = await testRegistry(store);
  await registry.create(configMapKind, 'default', configMapObject('a'));
  const watch = await registry.watch(configMapKind, { resourceVersion: String(await store.revision()) });
  const writers = Array.from({ length: 10 }, (_, writer) =>
    registry.modify(configMapKind, REF, (object) => {
      object.data = { ...object.data, [`writer-${writer}`]: 'was here' };
    }),
  );
  const revisions = (await Promise.all(writers)).map((record) => record.revision);
  await registry.delete(configMapKind, REF);
  const events = await takeEvents(watch, 11);
  assert.deepEqual(events.map(eventText), [...Array(10).fill('MODIFIED a'), 'DELETED a']);
  assert.equal(new Set(revisions).size, 10);
  const last = events.at(-1);
  assert.ok(last?.type === 'DELETED');
  assert.equal(Object.keys(last.record.object().data ?? {}).length, 10);
});
