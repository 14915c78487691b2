/** The storage in etcd under faults of a simulated etcd, in simulated time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import {
  type Leadership,
  LogClosed,
  LogFull,
  LogUnavailable,
} from '../../../coordinator/store/replica/replicated-log.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { MemoryCluster } from '../../harness/replica/memory-cluster.js';
import { MemoryEngine } from '../../harness/replica/memory-engine.js';

const record = (index: number, text = `record ${index}`) => ({ index, bytes: Buffer.from(text) });

class Fixture {
  readonly clock = new ManualClock();
  readonly engine = new MemoryEngine(this.clock);
  readonly a = this.connect();
  readonly b = this.connect();

  connect(): MemoryCluster {
    return new MemoryCluster(this.engine, { clusterUID: 'fleet', generation: 'first' });
  }

  async lead(cluster = this.a, memberId = 'a'): Promise<Leadership> {
    const leadership = await this.within(1_000, cluster.storage.campaign({ memberId, bootId: 'boot' }));
    assert.ok(leadership);
    return leadership;
  }

  async advance(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 50) {
      await turn();
      this.clock.advance(50);
    }
    await turn();
  }

  /** Lets time pass until the call ends. Fails after `ms`. */
  async within<T>(ms: number, call: Promise<T>): Promise<T> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    call.then(end, end);
    for (let passed = 0; passed <= ms; passed += 50) {
      await turn();
      if (isOver) return call;
      this.clock.advance(50);
    }
    throw new Error(`no end within ${ms} ms`);
  }

  async isPending(call: Promise<unknown>): Promise<boolean> {
    let isPending = true;
    const end = () => {
      isPending = false;
    };
    call.then(end, end);
    await turn();
    return isPending;
  }
}

for (const fate of ['applied', 'notApplied'] as const)
  test(`an append whose answers are lost, ${fate}, is appended once`, async () => {
    const fixture = new Fixture();
    const { term } = await fixture.lead();
    fixture.a.faults.nextRequests(fate, fate);
    const append = fixture.a.storage.append(record(1), term);
    assert.equal(await fixture.within(6_000, append), 'appended');
    assert.deepEqual(await fixture.b.storage.bounds(), { first: 1, next: 2 });
  });

test('an append that takes effect after its repetition changes nothing', async () => {
  const fixture = new Fixture();
  const { term } = await fixture.lead();
  fixture.a.faults.isFrozen = true;
  const append = fixture.a.storage.append(record(1), term);
  await fixture.advance(4_000);
  assert.ok(await fixture.isPending(append));
  fixture.a.faults.isFrozen = false;
  assert.equal(await fixture.within(2_000, append), 'appended');
  assert.deepEqual(await fixture.b.storage.bounds(), { first: 1, next: 2 });
});

test('an append of a frozen leader takes no effect after another coordinator leads', async () => {
  const fixture = new Fixture();
  const old = await fixture.lead();
  fixture.a.faults.isFrozen = true;
  const append = fixture.a.storage.append(record(1, 'old'), old.term);
  await fixture.advance(6_000);
  assert.equal(old.state, 'unproven');
  const { term } = await fixture.lead(fixture.b, 'b');
  assert.equal(await fixture.b.storage.append(record(1, 'new'), term), 'appended');
  fixture.a.faults.isFrozen = false;
  assert.equal(await fixture.within(3_000, append), 'overtaken');
  const [stored] = await fixture.b.storage.read(1, 10);
  assert.equal(Buffer.from(stored?.bytes ?? []).toString(), 'new');
  await fixture.advance(4_000);
  assert.equal(old.state, 'lost');
});

test('an append that arrives after another coordinator began to lead leaves no record', async () => {
  const fixture = new Fixture();
  const old = await fixture.lead();
  fixture.a.faults.isFrozen = true;
  const append = fixture.a.storage.append(record(1), old.term);
  await fixture.advance(6_000);
  await fixture.lead(fixture.b, 'b');
  fixture.a.faults.isFrozen = false;
  assert.equal(await fixture.within(3_000, append), 'overtaken');
  assert.deepEqual(await fixture.b.storage.bounds(), { first: 1, next: 1 });
});

test('no coordinator can begin to lead while the engine is full', async () => {
  const fixture = new Fixture();
  fixture.engine.isFull = true;
  await assert.rejects(fixture.a.storage.campaign({ memberId: 'a', bootId: 'boot' }), LogFull);
  fixture.engine.isFull = false;
  await fixture.lead();
});

test('a leader that is cut off is unproven within its lease, and proven again if no other led', async () => {
  const fixture = new Fixture();
  const leadership = await fixture.lead();
  fixture.engine.hasQuorum = false;
  await fixture.advance(10_000);
  assert.equal(leadership.state, 'unproven');
  fixture.engine.hasQuorum = true;
  await fixture.advance(3_000);
  assert.equal(leadership.state, 'proven');
});

test('a leader that lost its lease early has lost, before another campaign', async () => {
  const fixture = new Fixture();
  const leadership = await fixture.lead();
  fixture.a.faults.loseLeases();
  await fixture.advance(2_000);
  assert.equal(leadership.state, 'lost');
});

// A campaign reads the leader's key, asks for a lease and writes the key.
for (const [place, call] of ['read', 'lease', 'key'].entries())
  test(`a campaign wins although the answer to its ${call} is lost`, async () => {
    const fixture = new Fixture();
    fixture.a.faults.nextRequests(...Array<'answered'>(place).fill('answered'), 'applied');
    const leadership = await fixture.within(
      6_000,
      fixture.a.storage.campaign({ memberId: 'a', bootId: 'boot' }),
    );
    assert.ok(leadership);
    assert.deepEqual(await fixture.b.storage.leader(), {
      memberId: 'a',
      bootId: 'boot',
      term: leadership.term,
    });
  });

test('a read without an answer is rejected after 5 s, and later reads are answered', async () => {
  const fixture = new Fixture();
  fixture.a.faults.isCutOff = true;
  const read = fixture.a.storage.read(1, 1);
  await fixture.advance(4_500);
  assert.ok(await fixture.isPending(read));
  await assert.rejects(fixture.within(1_500, read), LogUnavailable);
  fixture.a.faults.isCutOff = false;
  assert.deepEqual(await fixture.within(2_000, fixture.a.storage.read(1, 1)), []);
});

test('a full engine refuses appends and values, keeps reads, and accepts them after a trim', async () => {
  const fixture = new Fixture();
  const { term } = await fixture.lead();
  for (const index of [1, 2]) await fixture.a.storage.append(record(index), term);
  fixture.engine.isFull = true;
  await assert.rejects(fixture.a.storage.append(record(3), term), LogFull);
  await assert.rejects(fixture.a.storage.put('status/a', Buffer.from('1')), LogFull);
  await fixture.a.storage.trim(2, term);
  assert.deepEqual(await fixture.a.storage.bounds(), { first: 2, next: 3 });
  fixture.engine.isFull = false;
  assert.equal(await fixture.a.storage.append(record(3, 'other'), term), 'appended');
});

test('an append that may have taken effect is repeated while the engine is full', async () => {
  const fixture = new Fixture();
  const { term } = await fixture.lead();
  fixture.a.faults.nextRequests('notApplied');
  const append = fixture.a.storage.append(record(1), term);
  fixture.engine.isFull = true;
  await fixture.advance(4_000);
  assert.ok(await fixture.isPending(append));
  fixture.engine.isFull = false;
  assert.equal(await fixture.within(2_000, append), 'appended');
});

test('a put with a version whose answer is lost is written once', async () => {
  for (const fate of ['applied', 'notApplied'] as const) {
    const fixture = new Fixture();
    fixture.a.faults.nextRequests(fate);
    const put = fixture.a.storage.put('cluster', Buffer.from('mine'), { version: 0 });
    assert.equal(await fixture.within(4_000, put), true);
    assert.equal(await fixture.b.storage.put('cluster', Buffer.from('other'), { version: 0 }), false);
  }
});

test('an ephemeral value returns with the next put after its lease was lost', async () => {
  const fixture = new Fixture();
  const put = () =>
    fixture.within(2_000, fixture.a.storage.put('status/a', Buffer.from('1'), { isEphemeral: true }));
  await put();
  await fixture.advance(60_000);
  assert.ok(await fixture.b.storage.get('status/a'));
  fixture.a.faults.loseLeases();
  assert.equal(await fixture.b.storage.get('status/a'), undefined);
  assert.equal(await put(), true);
  await fixture.advance(60_000);
  assert.ok(await fixture.b.storage.get('status/a'));
});

test('an ephemeral value of a coordinator that is cut off disappears after 15 s', async () => {
  const fixture = new Fixture();
  await fixture.a.storage.put('status/a', Buffer.from('1'), { isEphemeral: true });
  fixture.a.faults.isCutOff = true;
  await fixture.advance(9_000);
  assert.ok(await fixture.b.storage.get('status/a'));
  await fixture.advance(7_000);
  assert.equal(await fixture.b.storage.get('status/a'), undefined);
});

test('listeners are called again after the connection was cut off', async () => {
  const fixture = new Fixture();
  let calls = 0;
  fixture.b.storage.onChange(() => {
    calls += 1;
  });
  await fixture.advance(100);
  fixture.b.faults.isCutOff = true;
  const { term } = await fixture.lead();
  await fixture.a.storage.append(record(1), term);
  calls = 0;
  await fixture.advance(5_000);
  assert.equal(calls, 0);
  fixture.b.faults.isCutOff = false;
  await fixture.advance(3_000);
  assert.ok(calls > 0);
  calls = 0;
  await fixture.a.storage.append(record(2), term);
  await fixture.advance(100);
  assert.ok(calls > 0);
});

test('closing a connection ends its pending calls as closed', async () => {
  const fixture = new Fixture();
  const { term } = await fixture.lead();
  fixture.a.faults.isCutOff = true;
  const calls = [
    fixture.a.storage.append(record(1), term),
    fixture.a.storage.read(1, 1),
    fixture.a.storage.put('status/a', Buffer.from('1'), { isEphemeral: true }),
  ];
  await fixture.advance(1_600);
  await fixture.a.storage.close();
  for (const call of calls) await assert.rejects(call, LogClosed);
});
