/** The laws of Store, run against every implementation. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Change,
  Expired,
  KeyExists,
  KeyMissing,
  MAX_VALUE_BYTES,
  RevisionMismatch,
  type Store,
  type StoreWatch,
  ValueTooLarge,
  type WatchBatch,
} from '../../coordinator/store/store.js';

/** Opens a store that reports watch progress within milliseconds and keeps few changes in memory. */
type OpenStore = (limits: { maxChanges: number; progressMs: number }) => Promise<Store>;

const text = (value: Buffer | undefined): string | undefined => value?.toString();
const bytes = (value: string): Buffer => Buffer.from(value);

/** Returns plain objects. A store may have classes that encode their values on demand. */
function plain({ key, revision, value, previous }: Change): Change {
  const before = previous && { key: previous.key, value: previous.value, revision: previous.revision };
  return { key, revision, ...(value && { value }), ...(before && { previous: before }) };
}

/** Reads until the watch is complete up to `revision`. */
async function readUntil(watch: StoreWatch, revision: number): Promise<WatchBatch['changes']> {
  const changes = [];
  for await (const batch of watch) {
    changes.push(...batch.changes.map(plain));
    if (batch.revision >= revision) break;
  }
  return changes;
}

async function keysOf(store: Store, prefix: string): Promise<string[]> {
  return (await store.list(prefix)).items.map((item) => item.key);
}

/** Registers the suite under `name`. Each test opens a new store. */
export function storeLaws(name: string, open: OpenStore): void {
  const law = (rule: string, check: (store: Store) => Promise<void>, maxChanges = 8): void => {
    test(rule, async () => {
      const store = await open({ maxChanges, progressMs: 20 });
      // The store's timers do not keep the process alive.
      const alive = setTimeout(() => undefined, 10_000);
      try {
        await check(store);
      } finally {
        clearTimeout(alive);
        await store.close();
      }
    });
  };

  describe(`${name}: writes`, () => {
    law('a created value is read back with the revision of its write', async (store) => {
      const revision = await store.create('/a', bytes('1'));
      assert.deepEqual(await store.get('/a'), { key: '/a', value: bytes('1'), revision });
    });
    law('an absent key reads as undefined', async (store) => {
      assert.equal(await store.get('/a'), undefined);
    });
    law(
      'the revision of its creation distinguishes a value from an earlier one of its key',
      async (store) => {
        assert.equal(await store.createdAt('/a'), undefined);
        const first = await store.create('/a', bytes('1'));
        await store.update('/a', bytes('2'));
        assert.equal(await store.createdAt('/a'), first);
        await store.delete('/a');
        assert.equal(await store.createdAt('/a'), undefined);
        const second = await store.create('/a', bytes('3'));
        assert.equal(await store.createdAt('/a'), second);
      },
    );
    law('revisions increase with each write and the store reports the last', async (store) => {
      const revisions = [
        await store.create('/a', bytes('1')),
        await store.update('/a', bytes('2')),
        await store.delete('/a'),
        await store.create('/a', bytes('3')),
      ];
      assert.deepEqual(
        revisions,
        [...new Set(revisions)].sort((a, b) => a - b),
      );
      assert.equal(await store.revision(), revisions.at(-1));
    });
    law('create rejects an existing key', async (store) => {
      await store.create('/a', bytes('1'));
      await assert.rejects(store.create('/a', bytes('2')), KeyExists);
      assert.equal(text((await store.get('/a'))?.value), '1');
    });
    law('update and delete reject a missing key', async (store) => {
      await assert.rejects(store.update('/a', bytes('1')), KeyMissing);
      await assert.rejects(store.delete('/a'), KeyMissing);
    });
    law('update and delete with a stale revision change nothing', async (store) => {
      const stale = await store.create('/a', bytes('1'));
      const fresh = await store.update('/a', bytes('2'), { revision: stale });
      await assert.rejects(store.update('/a', bytes('3'), { revision: stale }), RevisionMismatch);
      await assert.rejects(store.delete('/a', { revision: stale }), RevisionMismatch);
      assert.equal(await store.revision(), fresh);
    });
    law('a write whose guard changed or was deleted changes nothing', async (store) => {
      const guard = { key: '/leader', revision: await store.create('/leader', bytes('1')) };
      await store.create('/a', bytes('1'), { guard });
      await store.update('/leader', bytes('2'));
      await assert.rejects(store.create('/b', bytes('1'), { guard }), RevisionMismatch);
      await assert.rejects(store.update('/a', bytes('2'), { guard }), RevisionMismatch);
      await store.delete('/leader');
      await assert.rejects(store.delete('/a', { guard }), RevisionMismatch);
    });
    law('of many updates from one revision exactly one succeeds', async (store) => {
      const revision = await store.create('/a', bytes('0'));
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) => store.update('/a', bytes(`${index}`), { revision })),
      );
      assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1);
    });
    law('writes that are sent together are applied in the order of sending', async (store) => {
      const writes = [
        store.create('/a', bytes('1')),
        store.update('/a', bytes('2')),
        store.delete('/a'),
        store.create('/a', bytes('3')),
      ];
      const revisions = await Promise.all(writes);
      assert.deepEqual(
        revisions,
        revisions.toSorted((a, b) => a - b),
      );
      assert.equal(text((await store.get('/a'))?.value), '3');
    });
    law('a value is at most 1.5 MiB', async (store) => {
      await store.create('/a', Buffer.alloc(MAX_VALUE_BYTES, 0x20));
      await assert.rejects(store.update('/a', Buffer.alloc(MAX_VALUE_BYTES + 1, 0x20)), ValueTooLarge);
    });
  });

  describe(`${name}: lists`, () => {
    law('a list contains the keys with its prefix in order', async (store) => {
      for (const key of ['/p/b', '/p/a', '/p', '/q/a', '/p/a/x', '/pa']) await store.create(key, bytes('1'));
      assert.deepEqual(await keysOf(store, '/p/'), ['/p/a', '/p/a/x', '/p/b']);
    });
    law('a list has the revision of its state', async (store) => {
      await store.create('/a', bytes('1'));
      await store.create('/b', bytes('1'));
      assert.equal((await store.list('/a')).revision, await store.revision());
    });
    law('a page states the number of remaining items, the last one none', async (store) => {
      for (const key of ['/a', '/b', '/c']) await store.create(key, bytes('1'));
      const first = await store.list('/', { limit: 2 });
      assert.equal(first.remaining, 1);
      const rest = await store.list('/', {
        limit: 2,
        continue: { afterKey: '/b', revision: first.revision },
      });
      assert.deepEqual([rest.items.map((item) => item.key), rest.remaining], [['/c'], undefined]);
    });
    for (const writesBetween of [0, 30]) {
      law(`pages are consistent, whatever is written between them (${writesBetween} more)`, async (store) => {
        for (const key of ['/a', '/b', '/c', '/d']) await store.create(key, bytes('old'));
        const { revision } = await store.list('/', { limit: 1 });
        await store.update('/b', bytes('new'));
        await store.update('/b', bytes('newer'));
        await store.delete('/c');
        await store.create('/bb', bytes('new'));
        for (let index = 0; index < writesBetween; index++) await store.update('/d', bytes(`${index}`));
        const outcome = await store.list('/', { continue: { afterKey: '/a', revision } }).catch((error) => {
          assert.ok(error instanceof Expired);
        });
        if (!outcome) return;
        assert.deepEqual(
          outcome.items.map((item) => [item.key, text(item.value)]),
          [
            ['/b', 'old'],
            ['/c', 'old'],
            ['/d', 'old'],
          ],
        );
        assert.equal(outcome.revision, revision);
      });
    }
    law('a page whose revision was compacted is Expired', async (store) => {
      await store.create('/a', bytes('1'));
      const { revision } = await store.list('/', { limit: 1 });
      await store.update('/a', bytes('2'));
      await store.compact(await store.revision());
      await assert.rejects(store.list('/', { continue: { afterKey: '/', revision } }), Expired);
    });
  });

  describe(`${name}: watches`, () => {
    law('a watch delivers every change once, in order, with the value before it', async (store) => {
      const after = await store.revision();
      const created = await store.create('/a', bytes('1'));
      const updated = await store.update('/a', bytes('2'));
      const watch = store.watch('/', { after });
      const later = store.delete('/a');
      assert.deepEqual(await readUntil(watch, await later), [
        { key: '/a', revision: created, value: bytes('1') },
        {
          key: '/a',
          revision: updated,
          value: bytes('2'),
          previous: { key: '/a', value: bytes('1'), revision: created },
        },
        {
          key: '/a',
          revision: await later,
          previous: { key: '/a', value: bytes('2'), revision: updated },
        },
      ]);
    });
    law('a watch starts after its revision and sees only its prefix', async (store) => {
      const after = await store.create('/a/1', bytes('1'));
      await store.create('/b/1', bytes('1'));
      const last = await store.create('/a/2', bytes('1'));
      const changes = await readUntil(store.watch('/a/', { after }), last);
      assert.deepEqual(
        changes.map((change) => change.key),
        ['/a/2'],
      );
    });
    law('a watch without changes of its own receives the progress of the store', async (store) => {
      const watch = store.watch('/a/', { after: await store.revision() });
      const waiting = readUntil(watch, (await store.revision()) + 1);
      await store.create('/b', bytes('1'));
      assert.deepEqual(await waiting, []);
    });
    law(
      'a watch misses nothing during many concurrent writes',
      async (store) => {
        const watch = store.watch('/', { after: 0 });
        const seen: number[] = [];
        const reading = (async () => {
          for await (const batch of watch) {
            seen.push(...batch.changes.map((change) => change.revision));
            if (seen.length >= 40) break;
          }
        })();
        for (let round = 0; round < 10; round++) {
          await Promise.all([0, 1, 2, 3].map((index) => store.create(`/${round}/${index}`, bytes('1'))));
        }
        await reading;
        const first = seen[0] ?? 0;
        assert.deepEqual(
          seen,
          seen.map((_, index) => first + index),
        );
      },
      1_000,
    );
    law('a reader that falls behind the buffer ends with Expired and skips nothing', async (store) => {
      const iterator = store.watch('/', { after: 0 })[Symbol.asyncIterator]();
      const first = iterator.next();
      await store.create('/a', bytes('0'));
      assert.equal((await first).value.changes.length, 1);
      for (let index = 0; index < 50; index++) await store.update('/a', bytes(`${index}`));
      await assert.rejects(iterator.next(), Expired);
    });
    law('a watch from a compacted revision is Expired', async (store) => {
      const after = await store.create('/a', bytes('1'));
      await store.update('/a', bytes('2'));
      await store.update('/a', bytes('3'));
      await store.compact(after + 1);
      await assert.rejects(store.watch('/', { after })[Symbol.asyncIterator]().next(), Expired);
    });
    law('compaction keeps current values and later changes', async (store) => {
      await store.create('/a', bytes('1'));
      const after = await store.update('/a', bytes('2'));
      const last = await store.update('/a', bytes('3'));
      await store.compact(after);
      assert.equal((await readUntil(store.watch('/', { after }), last)).length, 1);
      assert.equal(text((await store.get('/a'))?.value), '3');
    });
    law('close ends a waiting reader without an error', async (store) => {
      const watch = store.watch('/', { after: await store.revision() });
      const reading = readUntil(watch, Number.POSITIVE_INFINITY);
      watch.close();
      assert.deepEqual(await reading, []);
    });
    law('closing the store ends its watches without an error', async (store) => {
      const reading = readUntil(store.watch('/', { after: 0 }), Number.POSITIVE_INFINITY);
      await store.close();
      assert.deepEqual(await reading, []);
    });
  });

  describe(`${name}: identity`, () => {
    law('clusterUID and epoch are assigned and kept', async (store) => {
      assert.ok(store.clusterUID() && store.epoch());
      assert.equal(store.clusterUID(), store.clusterUID());
    });
  });
}
