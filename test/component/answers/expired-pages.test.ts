import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_KINDS, configMapKind } from '../../../coordinator/kinds/index.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { startTestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { MemoryStore } from '../../harness/controllers/memory-store.js';

const MAPS = '/api/v1/namespaces/default/configmaps';

interface Page {
  metadata: { continue?: string };
  items: { metadata: { name: string } }[];
}

test('a client reads the rest of an expired list with the token in the 410', async (context) => {
  const store = new MemoryStore();
  const registry = createRegistry({ store, kinds: ALL_KINDS, clock: systemClock, log: silentLogger });
  const api = await startTestApi({ registry });
  context.after(() => api.stop());
  for (const name of ['a', 'b', 'c']) {
    await registry.create(configMapKind, 'default', { metadata: { name } });
  }
  const first = (await call(api, `GET ${MAPS}?limit=1`)).json<Page>();
  await registry.create(configMapKind, 'default', { metadata: { name: 'd' } });
  await store.compact(await store.revision());
  const page = (token = '') => call(api, `GET ${MAPS}?limit=5&continue=${encodeURIComponent(token)}`);
  const expired = await page(first.metadata.continue);
  assert.equal(expired.code, 410);
  const { reason, message, metadata } = expired.json<Page & { reason: string; message: string }>();
  assert.equal(reason, 'Expired');
  assert.match(message, /^The provided continue parameter is too old to display a consistent list result\./);
  const rest = (await page(metadata.continue)).json<Page>();
  assert.deepEqual(
    rest.items.map((item) => item.metadata.name),
    ['b', 'c', 'd'],
  );
});
