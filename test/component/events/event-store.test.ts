/** Events survive a restart in chunks of the main store, within bounds of time and number. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventKind } from '../../../coordinator/kinds/index.js';
import { decodeChunk } from '../../../coordinator/registry/events/event-chunks.js';
import type { EventRecord } from '../../../coordinator/registry/events/event-record.js';
import { type EventStore, openEventStore } from '../../../coordinator/registry/events/event-store.js';
import { namespaceKey, prefixOf } from '../../../coordinator/registry/storage-keys.js';
import { Expired, ValueTooLarge } from '../../../coordinator/store/store.js';
import { StoreError } from '../../../coordinator/store/store-error.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { MemoryStore } from '../../harness/controllers/memory-store.js';
import { storeLaws } from '../../laws/store-laws.js';

const START_MS = Date.parse('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;
const PREFIX = prefixOf(eventKind);
const CHUNKS = '/registry/fleet.everynode.dev/event-chunks/';
const clientEvent = (name: string, lastTimestamp: string): Buffer =>
  Buffer.from(JSON.stringify({ metadata: { name, namespace: 'default' }, lastTimestamp }));

storeLaws('store of Events', async ({ maxChanges, progressMs }) =>
  openEventStore({
    main: new MemoryStore(),
    prefix: '/',
    // The laws begin at revision 0.
    clock: { ...systemClock, now: () => 0, monotonic: () => 0 },
    log: silentLogger,
    limits: { maxChanges, progressMs },
  }),
);

/** The clock and the main store, which outlive the processes that use them. */
class Machine {
  readonly clock = new ManualClock(START_MS);
  readonly main = new MemoryStore({ clock: this.clock });
  readonly namespace = this.main.create(namespaceKey('default'), Buffer.from('{}'));

  /** Resolves when the stored Events are loaded. */
  async start(limits: Parameters<typeof openEventStore>[0]['limits'] = {}): Promise<EventStore> {
    const { main, clock } = this;
    await this.namespace;
    const store = await openEventStore({ main, clock, log: silentLogger, limits });
    await store.revision();
    return store;
  }

  /** Records Events about Pods of these names. */
  record(store: EventStore, ...names: string[]): void {
    for (const name of names) store.record(this.event(name), () => true);
  }

  event(name: string, count = 1): EventRecord {
    const now = this.clock.now();
    const about = { kind: 'Pod', namespace: 'default', name };
    const texts = { component: 'kubelet', type: 'Normal', reason: 'Started', message: 'Started container c' };
    return {
      key: `${PREFIX}default/${name}`,
      about,
      ...texts,
      count,
      createdAt: now,
      firstAt: now,
      lastAt: now,
    };
  }

  /** Advances the clock and resolves when the writes that were due are complete. */
  async advance(ms: number): Promise<void> {
    this.clock.advance(ms);
    for (let turn = 0; turn < 10; turn += 1) await systemClock.yieldToEventLoop();
  }

  async chunks(): Promise<number> {
    return (await this.main.list(CHUNKS)).items.length;
  }
}

async function namesIn(store: EventStore): Promise<string[]> {
  return (await store.list(PREFIX)).items.map(({ key }) => key.slice(`${PREFIX}default/`.length));
}

describe('a restart', () => {
  test('finds the Events, with the same bytes and revisions, that are older than a second', async () => {
    const machine = new Machine();
    const store = await machine.start();
    machine.record(store, 'a', 'b', 'c');
    await store.create(`${PREFIX}default/d`, clientEvent('d', '2026-01-01T00:00:00Z'));
    await store.delete(`${PREFIX}default/b`);
    await machine.advance(1_000);
    const { items } = await store.list(PREFIX);
    machine.record(store, 'lost');
    const killed = await machine.start();
    assert.deepEqual((await killed.list(PREFIX)).items, items);
    assert.deepEqual(await namesIn(killed), ['a', 'c', 'd']);
  });

  test('finds the Events of the last second after a stop', async () => {
    const machine = new Machine();
    const store = await machine.start();
    machine.record(store, 'a');
    await store.close();
    assert.deepEqual(await namesIn(await machine.start()), ['a']);
  });

  test('finds the last state of an Event, and no Event that was deleted later', async () => {
    const machine = new Machine();
    const store = await machine.start();
    machine.record(store, 'again', 'deleted');
    await machine.advance(1_000);
    store.record(machine.event('again', 2), () => true);
    await store.delete(`${PREFIX}default/deleted`);
    await machine.advance(1_000);
    const { items } = await (await machine.start()).list(PREFIX);
    assert.deepEqual(
      items.map(({ value }) => JSON.parse(value.toString()).count),
      [2],
    );
  });

  for (const setBackMs of [0, HOUR_MS])
    test(`uses no revision of the last process, with a clock set back by ${setBackMs} ms`, async () => {
      const machine = new Machine();
      const store = await machine.start();
      machine.record(store, 'a');
      await machine.advance(1_000);
      machine.record(store, 'lost');
      const after = await store.revision();
      machine.clock.stepWallClock(-setBackMs);
      const next = await machine.start();
      assert.ok((await next.revision()) > after);
      await assert.rejects(next.watch(PREFIX, { after })[Symbol.asyncIterator]().next(), Expired);
    });

  test('skips a damaged chunk', async () => {
    const machine = new Machine();
    const store = await machine.start();
    machine.record(store, 'a');
    await machine.advance(1_000);
    machine.record(store, 'b');
    await machine.advance(1_000);
    const key = (await machine.main.list(CHUNKS)).items[0]?.key ?? '';
    for (const damaged of ['"AAAA"', '{}', '']) {
      await machine.main.update(key, Buffer.from(damaged));
      assert.deepEqual(await namesIn(await machine.start()), ['b']);
    }
  });

  test('takes Events over that an earlier version stored as objects', async () => {
    const machine = new Machine();
    const times = { old: '2025-12-31T22:00:00Z', recent: '2025-12-31T23:30:00Z' };
    for (const [name, time] of Object.entries(times)) {
      await machine.main.create(`${PREFIX}default/${name}`, clientEvent(name, time));
    }
    const store = await machine.start();
    assert.equal(await store.expire(), 1);
    assert.deepEqual(await namesIn(store), ['recent']);
    await machine.advance(1_000);
    assert.deepEqual((await machine.main.list(PREFIX)).items, []);
    assert.deepEqual(await namesIn(await machine.start()), ['recent']);
  });

  test('prefers chunks to objects of an earlier version whose deletion failed, and repeats the deletion', async () => {
    const machine = new Machine();
    for (const name of ['deleted', 'repeated', 'same']) {
      await machine.main.create(`${PREFIX}default/${name}`, clientEvent(name, '2026-01-01T00:00:00Z'));
    }
    const remove = machine.main.delete.bind(machine.main);
    machine.main.delete = () => Promise.reject(new StoreError('full', 'no space'));
    const store = await machine.start();
    await machine.advance(1_000);
    await store.delete(`${PREFIX}default/deleted`);
    store.record(machine.event('repeated', 7), () => true);
    await store.close();
    const next = await machine.start();
    const counts = (await next.list(PREFIX)).items.map(({ value }) => JSON.parse(value.toString()).count);
    assert.deepEqual(counts, [7, undefined]);
    machine.main.delete = remove;
    await next.expire();
    assert.deepEqual((await machine.main.list(PREFIX)).items, []);
    assert.deepEqual(await namesIn(await machine.start()), ['repeated', 'same']);
  });

  test('finds no Events of a Namespace that was deleted, also if it is created again later', async () => {
    const machine = new Machine();
    const store = await machine.start();
    machine.record(store, 'a');
    await machine.advance(1_000);
    await store.delete(`${PREFIX}default/a`);
    await machine.main.delete(namespaceKey('default'));
    const killed = await machine.start();
    assert.deepEqual(await namesIn(killed), []);
    await killed.close();
    await machine.main.create(namespaceKey('default'), Buffer.from('{}'));
    assert.deepEqual(await namesIn(await machine.start()), []);
  });

  test('finds no Event that was deleted while the clock was set back', async () => {
    const machine = new Machine();
    const store = await machine.start();
    machine.record(store, 'a');
    await store.close();
    machine.clock.stepWallClock(-HOUR_MS / 2);
    const behind = await machine.start();
    await behind.delete(`${PREFIX}default/a`);
    await behind.close();
    machine.clock.stepWallClock(HOUR_MS / 2);
    const right = await machine.start();
    machine.record(right, 'b');
    await machine.advance(HOUR_MS * 0.75);
    await right.expire();
    assert.equal(await machine.chunks(), 3);
    machine.clock.stepWallClock(-HOUR_MS / 2);
    assert.deepEqual(await namesIn(await machine.start()), ['b']);
  });

  test('uses no revision of the last process, which ran a quiet hour with a clock ahead', async () => {
    const machine = new Machine();
    const store = await machine.start();
    machine.record(store, 'a');
    await machine.advance(1_000);
    await machine.advance(2 * HOUR_MS);
    await store.expire();
    const last = await store.revision();
    machine.clock.stepWallClock(-24 * HOUR_MS);
    assert.ok((await (await machine.start()).revision()) > last);
  });
});

describe('a main store that refuses writes', () => {
  test('loses no Events, also none of an earlier version', async () => {
    const machine = new Machine();
    await machine.main.create(`${PREFIX}default/old`, clientEvent('old', '2026-01-01T00:00:00Z'));
    const create = machine.main.create.bind(machine.main);
    machine.main.create = () => Promise.reject(new StoreError('full', 'no space'));
    const store = await machine.start();
    machine.record(store, 'a');
    await machine.advance(1_000);
    assert.deepEqual(await namesIn(store), ['a', 'old']);
    assert.deepEqual([await machine.chunks(), (await machine.main.list(PREFIX)).items.length], [0, 1]);
    machine.main.create = create;
    await machine.advance(1_000);
    assert.deepEqual(await namesIn(await machine.start()), ['a', 'old']);
  });

  test('may have written a chunk whose outcome was unknown', async () => {
    const machine = new Machine();
    const create = machine.main.create.bind(machine.main);
    machine.main.create = async (...write) => {
      await create(...write);
      machine.main.create = create;
      throw new StoreError('unknown', 'no answer');
    };
    const store = await machine.start();
    machine.record(store, 'a');
    await machine.advance(1_000);
    await machine.advance(1_000);
    assert.equal(await machine.chunks(), 1);
    machine.record(store, 'b');
    await machine.advance(1_000);
    assert.deepEqual(await namesIn(await machine.start()), ['a', 'b']);
    await machine.advance(2 * HOUR_MS);
    await store.expire();
    assert.equal(await machine.chunks(), 1);
  });

  test('deletes a chunk whose outcome was unknown and that a later chunk repeats', async () => {
    const machine = new Machine();
    const create = machine.main.create.bind(machine.main);
    machine.main.create = async (...write) => {
      await create(...write);
      throw new StoreError('unknown', 'no answer');
    };
    const store = await machine.start();
    machine.record(store, 'a');
    await machine.advance(1_000);
    machine.main.create = create;
    machine.record(store, 'b');
    await machine.advance(1_000);
    assert.equal(await machine.chunks(), 2);
    await machine.advance(2 * HOUR_MS);
    await store.expire();
    assert.equal(await machine.chunks(), 1);
  });

  test('gets no expired, excess or deleted Events when it accepts writes again', async () => {
    const machine = new Machine();
    const create = machine.main.create.bind(machine.main);
    machine.main.create = () => Promise.reject(new StoreError('full', 'no space'));
    const store = await machine.start({ maxEvents: 2 });
    machine.record(store, 'deleted');
    await store.delete(`${PREFIX}default/deleted`);
    machine.record(store, 'expired');
    await machine.advance(HOUR_MS + 1_000);
    await store.expire();
    machine.record(store, 'excess', 'a', 'b');
    const written: number[] = [];
    machine.main.create = (key, value) => {
      written.push(decodeChunk(PREFIX, value, machine.clock.now()).changes.length);
      return create(key, value);
    };
    await machine.advance(1_000);
    assert.deepEqual(written, [2]);
    assert.deepEqual(await namesIn(await machine.start()), ['a', 'b']);
  });

  test('loses only the Event that is too large', async () => {
    const machine = new Machine();
    const create = machine.main.create.bind(machine.main);
    machine.main.create = async (key, value) => {
      const { changes } = decodeChunk(PREFIX, value, machine.clock.now());
      if (changes.some((change) => change.key.endsWith('/large'))) throw new ValueTooLarge(key, value.length);
      return create(key, value);
    };
    const store = await machine.start();
    machine.record(store, 'a', 'b', 'large', 'c', 'd');
    await store.close();
    assert.deepEqual(await namesIn(await machine.start()), ['a', 'b', 'c', 'd']);
  });
});

describe('bounds', () => {
  test('one value of the main store has the changes of a second, and is deleted after an hour', async () => {
    const machine = new Machine();
    const store = await machine.start();
    for (let index = 0; index < 20; index += 1) machine.record(store, `a${index}`);
    await machine.advance(999);
    machine.record(store, 'b');
    assert.equal(await machine.chunks(), 0);
    await machine.advance(1);
    assert.equal(await machine.chunks(), 1);
    await machine.advance(HOUR_MS);
    assert.equal(await store.expire(), 21);
    await machine.advance(1_000);
    assert.equal(await store.expire(), 0);
    assert.deepEqual(await namesIn(await machine.start()), []);
    await machine.advance(HOUR_MS + 1_000);
    await store.expire();
    assert.equal(await machine.chunks(), 1, 'the newest, which has the last revision');
  });

  test('a chunk is far smaller than a value may be', async () => {
    const machine = new Machine();
    const store = await machine.start();
    for (let index = 0; index < 3_000; index += 1) machine.record(store, `a${index}`);
    await machine.advance(1_000);
    assert.equal(await machine.chunks(), 3);
    assert.equal((await namesIn(await machine.start())).length, 3_000);
  });

  test('a large Event has a chunk of its own', async () => {
    const machine = new Machine();
    const store = await machine.start();
    machine.record(store, 'a');
    await store.create(`${PREFIX}default/large`, clientEvent('x'.repeat(600_000), '2026-01-01T00:00:00Z'));
    machine.record(store, 'b');
    await machine.advance(1_000);
    assert.equal(await machine.chunks(), 3);
  });

  test('a start loads no more Events than the limit', async () => {
    const machine = new Machine();
    const store = await machine.start();
    machine.record(store, 'a', 'b', 'c');
    await store.close();
    assert.deepEqual(await namesIn(await machine.start({ maxEvents: 2 })), ['b', 'c']);
  });

  test('above the limit the oldest Events are deleted', async () => {
    const machine = new Machine();
    const store = await machine.start({ maxEvents: 3 });
    machine.record(store, 'a', 'b', 'c');
    machine.record(store, 'a', 'd');
    assert.deepEqual(await namesIn(store), ['a', 'c', 'd']);
  });

  test('an expired Event is not loaded', async () => {
    const machine = new Machine();
    const store = await machine.start();
    machine.record(store, 'a');
    await machine.advance(1_000);
    await machine.advance(HOUR_MS);
    assert.deepEqual(await namesIn(await machine.start()), []);
  });
});

test('a watch reports each change of an Event in order, with its bytes', async () => {
  const machine = new Machine();
  const store = await machine.start();
  const watch = store.watch(PREFIX, { after: await store.revision() });
  machine.record(store, 'a', 'b');
  store.record(machine.event('a', 2), () => true);
  await store.delete(`${PREFIX}default/b`);
  const seen: unknown[] = [];
  for await (const { changes } of watch) {
    for (const { key, value, previous } of changes) {
      const countOf = (bytes: Buffer | undefined) => bytes && JSON.parse(bytes.toString()).count;
      seen.push([key.at(-1), countOf(previous?.value), countOf(value)]);
    }
    if (seen.length === 4) break;
  }
  assert.deepEqual(seen, [
    ['a', undefined, 1],
    ['b', undefined, 1],
    ['a', 1, 2],
    ['b', 1, undefined],
  ]);
});
