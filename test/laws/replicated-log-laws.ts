/** The laws of ClusterStorage, run against every implementation. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import {
  type ClusterStorage,
  type Leadership,
  LogClosed,
  type LogRecord,
  LogTrimmed,
  MAX_RECORD_BYTES,
} from '../../coordinator/store/replica/replicated-log.js';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { until } from '../harness/basics/wait-until.js';

/** Opens another connection to the same log. */
type Connect = () => ClusterStorage;

/** How the laws reach an implementation. */
export interface LogUnderTest {
  /** Returns why it cannot run here. */
  readonly missing?: string | undefined;
  /** Prepares an empty log for one test. */
  readonly open: () => Promise<Connect>;
}

const bytes = (text: string): Buffer => Buffer.from(text);
const record = (index: number, text = `record ${index}`): LogRecord => ({ index, bytes: bytes(text) });

async function lead(storage: ClusterStorage, memberId = 'a'): Promise<Leadership> {
  const leadership = await storage.campaign({ memberId, bootId: 'boot' });
  assert.ok(leadership, `${memberId} leads`);
  return leadership;
}

/** Appends the records `from` to `to`. */
async function fill(storage: ClusterStorage, term: number, from: number, to: number): Promise<void> {
  for (let index = from; index <= to; index += 1)
    assert.equal(await storage.append(record(index), term), 'appended');
}

async function textsFrom(storage: ClusterStorage, from: number): Promise<string[]> {
  const read: LogRecord[] = [];
  for (;;) {
    const page = await storage.read(from + read.length, 1_000);
    if (page.length === 0) return read.map((each) => Buffer.from(each.bytes).toString());
    read.push(...page);
  }
}

type Law = (connect: Connect, storage: ClusterStorage) => Promise<void>;

/** Registers the suite under `name`. */
export function replicatedLogLaws(name: string, { missing, open }: LogUnderTest): void {
  const law = (rule: string, check: Law): void => {
    test(rule, async (context: TestContext) => {
      if (missing !== undefined) return leaveOut(context, `log laws on ${name}`, missing);
      const connectOne = await open();
      const opened: ClusterStorage[] = [];
      const connect = () => {
        const storage = connectOne();
        opened.push(storage);
        return storage;
      };
      // Timers of a storage do not keep the process alive.
      const alive = setTimeout(() => undefined, 60_000);
      try {
        await check(connect, connect());
      } finally {
        clearTimeout(alive);
        await Promise.all(opened.map((storage) => storage.close()));
      }
    });
  };

  describe(`${name}: log`, () => logLaws(law));
  describe(`${name}: leader`, () => leaderLaws(law));
  describe(`${name}: values`, () => valueLaws(law));
  describe(`${name}: connection`, () => connectionLaws(law));
}

function logLaws(law: (rule: string, check: Law) => void): void {
  law('a new log is empty and begins with record 1', async (_, storage) => {
    assert.deepEqual(await storage.bounds(), { first: 1, next: 1 });
    assert.deepEqual(await storage.read(1, 10), []);
  });
  law('appended records are read in order with their bytes', async (connect, storage) => {
    const { term } = await lead(storage);
    await fill(storage, term, 1, 3);
    assert.deepEqual(await textsFrom(connect(), 1), ['record 1', 'record 2', 'record 3']);
    assert.deepEqual(await storage.bounds(), { first: 1, next: 4 });
  });
  law('a read starts at the requested record and returns at most the limit', async (_, storage) => {
    const { term } = await lead(storage);
    await fill(storage, term, 1, 5);
    const read = await storage.read(2, 2);
    assert.deepEqual(
      read.map(({ index }) => index),
      [2, 3],
    );
  });
  law('a read of a hundred records of different sizes is complete', async (_, storage) => {
    const { term } = await lead(storage);
    const text = (index: number) => `${index}`.repeat(index % 10 === 0 ? 20_000 : 1);
    for (let index = 1; index <= 100; index += 1) await storage.append(record(index, text(index)), term);
    assert.deepEqual(
      await textsFrom(storage, 1),
      Array.from({ length: 100 }, (_each, place) => text(place + 1)),
    );
  });
  law('a record of the largest size is stored with all its bytes', async (_, storage) => {
    const { term } = await lead(storage);
    const large = Buffer.alloc(MAX_RECORD_BYTES, 'x');
    assert.equal(await storage.append({ index: 1, bytes: large }, term), 'appended');
    const [read] = await storage.read(1, 1);
    assert.ok(large.equals(read?.bytes ?? Buffer.alloc(0)));
  });
  law('a read beyond the end is empty', async (_, storage) => {
    const { term } = await lead(storage);
    await fill(storage, term, 1, 2);
    assert.deepEqual(await storage.read(3, 10), []);
  });
  law('an append to an index with another record is overtaken and changes nothing', async (_, storage) => {
    const { term } = await lead(storage);
    await fill(storage, term, 1, 1);
    assert.equal(await storage.append(record(1, 'other'), term), 'overtaken');
    assert.deepEqual(await textsFrom(storage, 1), ['record 1']);
  });
  law('an append that is repeated with the same bytes is appended once', async (_, storage) => {
    const { term } = await lead(storage);
    await fill(storage, term, 1, 1);
    assert.equal(await storage.append(record(1), term), 'appended');
    assert.deepEqual(await storage.bounds(), { first: 1, next: 2 });
  });
  law('an append in a term that does not lead is overtaken and changes nothing', async (connect, storage) => {
    assert.equal(await storage.append(record(1), 1), 'overtaken');
    const old = await lead(storage, 'a');
    await fill(storage, old.term, 1, 1);
    await old.resign();
    assert.equal(await storage.append(record(2), old.term), 'overtaken');
    const { term } = await lead(connect(), 'b');
    assert.equal(await storage.append(record(2), old.term), 'overtaken');
    assert.equal(await storage.append(record(2), term), 'appended');
  });
  law('trimmed records are gone, and later ones keep their index', async (_, storage) => {
    const { term } = await lead(storage);
    await fill(storage, term, 1, 5);
    await storage.trim(4, term);
    assert.deepEqual(await storage.bounds(), { first: 4, next: 6 });
    await assert.rejects(storage.read(3, 10), LogTrimmed);
    assert.deepEqual(await textsFrom(storage, 4), ['record 4', 'record 5']);
  });
  law('a trim of everything keeps the last record, so that the next index is known', async (_, storage) => {
    const { term } = await lead(storage);
    await fill(storage, term, 1, 5);
    await storage.trim(100, term);
    assert.deepEqual(await storage.bounds(), { first: 5, next: 6 });
    await fill(storage, term, 6, 6);
    assert.deepEqual(await storage.bounds(), { first: 5, next: 7 });
  });
  law('a trim in a term that does not lead changes nothing', async (_, storage) => {
    const leadership = await lead(storage);
    await fill(storage, leadership.term, 1, 3);
    await leadership.resign();
    await storage.trim(3, leadership.term);
    assert.deepEqual(await storage.bounds(), { first: 1, next: 4 });
  });
  law('a trim that is repeated or empty changes nothing', async (_, storage) => {
    const { term } = await lead(storage);
    await storage.trim(1, term);
    await fill(storage, term, 1, 3);
    await storage.trim(2, term);
    await storage.trim(2, term);
    await storage.trim(1, term);
    assert.deepEqual(await storage.bounds(), { first: 2, next: 4 });
  });
  law(
    'an append wakes the readers of other connections until they stop listening',
    async (connect, storage) => {
      const reader = connect();
      let calls = 0;
      const stop = reader.onChange(() => {
        calls += 1;
      });
      await until(() => calls > 0, { what: 'the watch to open' });
      const { term } = await lead(storage);
      calls = 0;
      await fill(storage, term, 1, 1);
      await until(() => calls > 0, { what: 'the wake-up' });
      stop();
      const woken = new Promise<void>((resolve) => reader.onChange(resolve));
      calls = 0;
      await fill(storage, term, 2, 2);
      await woken;
      assert.equal(calls, 0);
    },
  );
}

function leaderLaws(law: (rule: string, check: Law) => void): void {
  law('a log without a leader has none', async (_, storage) => {
    assert.equal(await storage.leader(), undefined);
  });
  law('the winner of a campaign is the leader with its term', async (connect, storage) => {
    const leadership = await lead(storage, 'a');
    assert.equal(leadership.state, 'proven');
    assert.deepEqual(await connect().leader(), { memberId: 'a', bootId: 'boot', term: leadership.term });
  });
  law('a campaign against a leader returns nothing and changes nothing', async (connect, storage) => {
    const { term } = await lead(storage, 'a');
    assert.equal(await connect().campaign({ memberId: 'b', bootId: 'boot' }), undefined);
    assert.equal(await storage.campaign({ memberId: 'a', bootId: 'boot' }), undefined);
    assert.deepEqual(await storage.leader(), { memberId: 'a', bootId: 'boot', term });
  });
  law(
    'an evicted leader has lost, another one can lead at once, and is not evicted by it',
    async (connect, storage) => {
      const first = await lead(storage, 'a');
      const leader = await connect().leader();
      assert.ok(leader);
      await connect().evict(leader);
      const second = await lead(connect(), 'b');
      assert.ok(second.term > first.term);
      await connect().evict(leader);
      assert.equal((await storage.leader())?.memberId, 'b');
      assert.equal(await storage.append({ index: 1, bytes: Buffer.from('old') }, first.term), 'overtaken');
      await until(() => first.state === 'lost', { timeoutMs: 12_000, pollMs: 100 });
    },
  );
  law('of concurrent campaigns one wins', async (connect) => {
    const won = await Promise.all(
      ['a', 'b', 'c'].map((id) => connect().campaign({ memberId: id, bootId: 'boot' })),
    );
    assert.equal(won.filter(Boolean).length, 1);
  });
  law('a leader that resigned has lost, and the next term is higher', async (connect, storage) => {
    const first = await lead(storage, 'a');
    const states: string[] = [];
    first.onState((state) => states.push(state));
    await first.resign();
    assert.equal(first.state, 'lost');
    assert.deepEqual(states, ['lost']);
    assert.equal(await storage.leader(), undefined);
    const second = await lead(connect(), 'b');
    assert.ok(second.term > first.term, `${second.term} > ${first.term}`);
  });
  law('a change of the leader wakes listeners', async (connect, storage) => {
    let calls = 0;
    connect().onChange(() => {
      calls += 1;
    });
    await until(() => calls > 0, { what: 'the watch to open' });
    calls = 0;
    await lead(storage);
    await until(() => calls > 0, { what: 'the wake-up' });
  });
  law('a leader whose connection is closed is replaced after its lease', async (connect, storage) => {
    await lead(storage, 'a');
    await storage.close();
    const next = connect();
    await until(async () => (await next.campaign({ memberId: 'b', bootId: 'boot' })) !== undefined, {
      timeoutMs: 12_000,
      pollMs: 200,
    });
  });
}

function valueLaws(law: (rule: string, check: Law) => void): void {
  law('a value that was put is read by other connections', async (connect, storage) => {
    assert.equal(await storage.get('members/a'), undefined);
    assert.equal(await storage.put('members/a', bytes('1')), true);
    const read = await connect().get('members/a');
    assert.deepEqual([read?.name, read?.value.toString()], ['members/a', '1']);
  });
  law('the fleet of the engine is a value like others', async (_, storage) => {
    assert.equal(await storage.put('cluster', bytes('fleet'), { version: 0 }), true);
    assert.equal(await storage.put('cluster', bytes('other'), { version: 0 }), false);
    assert.equal((await storage.get('cluster'))?.value.toString(), 'fleet');
  });
  law('a put with another version than the stored one changes nothing', async (_, storage) => {
    assert.equal(await storage.put('keys', bytes('1'), { version: 0 }), true);
    const first = await storage.get('keys');
    assert.equal(await storage.put('keys', bytes('2'), { version: first?.version ?? -1 }), true);
    assert.equal(await storage.put('keys', bytes('3'), { version: first?.version ?? -1 }), false);
    assert.equal(await storage.put('keys', bytes('4'), { version: 0 }), false);
    const last = await storage.get('keys');
    assert.equal(last?.value.toString(), '2');
    assert.notEqual(last?.version, first?.version);
  });
  law('values are listed by prefix in order of their names', async (_, storage) => {
    for (const name of ['status/a', 'members/b', 'members/a', 'memberships'])
      await storage.put(name, bytes(name));
    const listed = await storage.list('members/');
    assert.deepEqual(
      listed.map(({ name, value }) => [name, value.toString()]),
      [
        ['members/a', 'members/a'],
        ['members/b', 'members/b'],
      ],
    );
  });
  law('a deleted value is absent, and deleting it again changes nothing', async (_, storage) => {
    await storage.put('members/a', bytes('1'));
    await storage.delete('members/a');
    await storage.delete('members/a');
    assert.equal(await storage.get('members/a'), undefined);
    assert.equal(await storage.put('members/a', bytes('2'), { version: 0 }), true);
  });
  law('a value of 512 KiB is stored with all its bytes', async (_, storage) => {
    const large = Buffer.alloc(512 * 1_024, 'y');
    await storage.put('keys', large);
    assert.ok((await storage.get('keys'))?.value.equals(large));
  });
  law('a put wakes listeners', async (connect, storage) => {
    let calls = 0;
    connect().onChange(() => {
      calls += 1;
    });
    await until(() => calls > 0, { what: 'the watch to open' });
    calls = 0;
    await storage.put('members/a', bytes('1'));
    await until(() => calls > 0, { what: 'the wake-up' });
  });
  law(
    'an ephemeral value is rewritten, and disappears after its connection is closed',
    async (connect, storage) => {
      const other = connect();
      await storage.put('status/a', bytes('1'), { isEphemeral: true });
      await storage.put('status/a', bytes('2'), { isEphemeral: true });
      await storage.put('members/a', bytes('1'));
      assert.equal((await other.get('status/a'))?.value.toString(), '2');
      await storage.close();
      const isGone = async () => (await other.get('status/a')) === undefined;
      await until(isGone, { timeoutMs: 25_000, pollMs: 250 });
      assert.ok(await other.get('members/a'));
    },
  );
}

function connectionLaws(law: (rule: string, check: Law) => void): void {
  law('the health names each endpoint, its version and one leader', async (_, storage) => {
    const health = await storage.health();
    assert.ok(health.every(({ version, error }) => version && error === undefined));
    assert.equal(health.filter(({ isLeader }) => isLeader).length, 1);
  });
  law('calls of a closed connection are rejected as closed', async (_, storage) => {
    const { term } = await lead(storage);
    await storage.close();
    await assert.rejects(storage.append(record(1), term), LogClosed);
    await assert.rejects(storage.read(1, 1), LogClosed);
    await assert.rejects(storage.bounds(), LogClosed);
    await assert.rejects(storage.get('members/a'), LogClosed);
    await assert.rejects(storage.put('members/a', bytes('1')), LogClosed);
  });
}
