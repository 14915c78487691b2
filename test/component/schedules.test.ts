import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expireEvents } from '../../coordinator/controllers/event-expiry.js';
import { eventKind } from '../../coordinator/kinds/index.js';
import { startSchedules } from '../../coordinator/schedules.js';
import { Compaction } from '../../coordinator/store/compaction.js';
import { MemoryStore } from '../../coordinator/store/memory-store.js';
import { Expired } from '../../coordinator/store/store.js';
import { joinNode, withControlPlane } from '../harness/control-plane.js';

describe('compaction', () => {
  test('history has one period before it goes', async () => {
    const store = new MemoryStore();
    const compaction = new Compaction(store);
    const first = await store.create('/a', Buffer.from('1'));
    await store.update('/a', Buffer.from('2'));
    await compaction.run();
    const page = { continue: { afterKey: '/', revision: first } };
    assert.equal((await store.list('/', page)).items.length, 1);
    await compaction.run();
    await assert.rejects(store.list('/', page), Expired);
  });
});

describe('event expiry', () => {
  withControlPlane('an Event goes an hour after it last happened', async (plane) => {
    await joinNode(plane, 'n1');
    const record = plane.events.from('test');
    const node = plane.informers.nodes.get({ name: 'n1' });
    assert.ok(node);
    record(node, 'Normal', 'Once', 'once');
    record(node, 'Normal', 'Again', 'again');
    await plane.advance(1_800_000);
    record(node, 'Normal', 'Again', 'again');
    await plane.advance(1_801_000);
    assert.equal(await expireEvents(plane.registry, plane.clock), 1);
    const { records } = await plane.registry.list(eventKind);
    assert.deepEqual(
      records.map((event) => [event.object().reason, event.object().count]),
      [['Again', 2]],
    );
  });
});

describe('schedules', () => {
  withControlPlane('they start and stop without keeping the process', async (plane) => {
    const schedules = startSchedules({ ...plane, renewCertificate: async () => undefined });
    await schedules.stop();
  });
});
