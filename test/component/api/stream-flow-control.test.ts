/** Streams on a slow line share it. Neither a long log nor a stalled reader may delay other traffic. */
import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import { systemClock } from '../../../shared/process/time/clock.js';
import { until } from '../../harness/basics/wait-until.js';
import { FOLLOWED_LOG, type HubFixture, type TestAgent, withHub } from '../../harness/hub/hub-fixture.js';
import { type ThrottledProxy, throttledProxy } from '../../harness/hub/throttled-connection.js';

const MEGABYTE = 1_000_000;

const wires: ThrottledProxy[] = [];
// Runs even after a failure, because an open proxy would keep this process alive.
afterEach(() => {
  for (const wire of wires.splice(0)) wire.close();
});

/** A host `n1` behind a throttled proxy, with a log of `size` bytes. */
async function hostBehind(
  fixture: HubFixture,
  bytesPerSecond: number,
  size: number,
): Promise<{ agent: TestAgent }> {
  const wire = await throttledProxy(fixture.port, bytesPerSecond);
  wires.push(wire);
  const agent = await fixture.agent('n1', { clock: systemClock, port: wire.port });
  const piece = Buffer.alloc(64_000, 'x');
  agent.log = async function* () {
    for (let left = size; left > 0; left -= piece.length) yield piece.subarray(0, left);
  };
  await until(() => agent.link.phase === 'live' && fixture.hub.connected === 1);
  return { agent };
}

/** Reads a log of `n1` and counts its bytes. */
function read(fixture: HubFixture, signal: AbortSignal = new AbortController().signal) {
  const counted = { bytes: 0, ended: Promise.resolve() };
  counted.ended = (async () => {
    for await (const chunk of await fixture.hub.streams.logs('n1', FOLLOWED_LOG, signal))
      counted.bytes += chunk.length;
  })();
  return counted;
}

/** Reports a new status of the Pod `p`. Resolves when the hub has stored it. */
async function report(fixture: HubFixture, agent: TestAgent, uid: string, message: string): Promise<void> {
  const pod = { uid, namespace: 'default', name: 'p' };
  agent.link.outbox.putPod({ ...pod, status: { phase: 'Running', message } });
  await until(async () => (await fixture.pod('p'))?.status?.message === message, {
    timeoutMs: 60_000,
    what: `the report ${message}`,
    pollMs: 5,
  });
}

withHub('a log of 100 MB on a slow line delays neither reports nor commands', async (fixture) => {
  const { agent } = await hostBehind(fixture, 25 * MEGABYTE, 100 * MEGABYTE);
  const uid = (await fixture.boundPod('p', 'n1')).metadata.uid ?? '';
  const log = read(fixture);
  let ended = false;
  void log.ended.then(() => {
    ended = true;
  });
  const ahead: number[] = [];
  for (let count = 0; !ended; count += 1) {
    const before = log.bytes;
    await report(fixture, agent, uid, `report ${count}`);
    ahead.push(log.bytes - before);
    // A command in the other direction.
    const name = `command-${count}`;
    const commanded = (await fixture.boundPod(name, 'n1')).metadata.uid ?? '';
    await until(() => agent.held.has(commanded), { timeoutMs: 60_000, what: name, pollMs: 5 });
  }
  await log.ended;
  assert.equal(log.bytes, 100 * MEGABYTE);
  assert.ok(ahead.length > 5, `only ${ahead.length} reports in that time`);
  assert.deepEqual(agent.lost, []);
});

withHub('eight logs on a line of 300 KB/s delay a report only a little', async (fixture) => {
  const { agent } = await hostBehind(fixture, 0.3 * MEGABYTE, 100 * MEGABYTE);
  const uid = (await fixture.boundPod('p', 'n1')).metadata.uid ?? '';
  const leave = new AbortController();
  const logs = Array.from({ length: 8 }, () => read(fixture, leave.signal));
  const total = () => logs.reduce((sum, { bytes }) => sum + bytes, 0);
  // By now the stream pace has adapted to the line.
  await until(() => total() > 0.6 * MEGABYTE, { timeoutMs: 60_000, what: 'bytes of the logs' });
  for (let count = 0; count < 3; count += 1) {
    const before = total();
    await report(fixture, agent, uid, `report ${count}`);
    const ahead = total() - before;
    assert.ok(ahead < 200_000, `${ahead} bytes went ahead of a report`);
  }
  const counts = logs.map(({ bytes }) => bytes);
  assert.ok(Math.min(...counts) > 0.5 * Math.max(...counts), `no fair shares: ${counts}`);
  leave.abort();
  await Promise.all(logs.map(({ ended }) => ended));
});

withHub('a reader that stalls delays no other, and its host waits', async (fixture) => {
  await hostBehind(fixture, 25 * MEGABYTE, 20 * MEGABYTE);
  const leave = new AbortController();
  const sleeping = await fixture.hub.streams.logs('n1', FOLLOWED_LOG, leave.signal);
  const awake = read(fixture);
  await awake.ended;
  assert.equal(awake.bytes, 20 * MEGABYTE);
  let bytes = 0;
  for await (const chunk of sleeping) bytes += chunk.length;
  assert.equal(bytes, 20 * MEGABYTE);
});
