/** The availability of hosts is recorded from the condition Ready, and survives the coordinator. */
import assert from 'node:assert/strict';
import { availabilityStorage } from '../../../coordinator/availability-storage.js';
import { AvailabilityRecorder } from '../../../coordinator/controllers/nodes/availability-recorder.js';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import {
  type ControlPlane,
  joinNode,
  setReady,
  withControlPlane,
} from '../../harness/controllers/control-plane-fixture.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const STORED = '/registry/fleet.everynode.dev/availability/';

async function startRecorder({
  store,
  informers,
  clock,
  settle,
}: ControlPlane): Promise<AvailabilityRecorder> {
  const storage = availabilityStorage(store);
  const recorder = new AvailabilityRecorder({ informers, storage, clock, log: silentLogger });
  await recorder.start();
  await settle();
  return recorder;
}

async function storedKeys({ store }: ControlPlane): Promise<string[]> {
  return (await store.list(STORED)).items.map(({ key }) => key.slice(STORED.length));
}

/** Minutes that were observed, and in which the host was Ready, of the last day. */
function dayOf(recorder: AvailabilityRecorder, name: string): [observed: number, ready: number] | undefined {
  const found = recorder.of(name);
  return found && [found.day.observedSeconds / 60, found.day.readySeconds / 60];
}

withControlPlane(
  'an outage counts from its first to its last moment, by host and by label',
  async (plane) => {
    const recorder = await startRecorder(plane);
    await joinNode(plane, 'a', { labels: { site: 'kiel' } });
    await joinNode(plane, 'b', { labels: { site: 'ulm' } });
    await plane.registry.create(nodeKind, undefined, { metadata: { name: 'no-host' } });
    for (const name of ['a', 'b']) await setReady(plane, name, 'True');
    await plane.advance(HOUR_MS);
    await setReady(plane, 'a', 'Unknown');
    await plane.advance(HOUR_MS);
    assert.deepEqual(dayOf(recorder, 'a'), [120, 60]);
    assert.equal(recorder.of('a')?.outages[0]?.to, undefined);
    await setReady(plane, 'a', 'True');
    await plane.advance(HOUR_MS);
    assert.deepEqual(dayOf(recorder, 'a'), [180, 120]);
    assert.deepEqual(recorder.of('a')?.outages, [
      { from: '2026-01-01T01:00:00Z', to: '2026-01-01T02:00:00Z', downSeconds: 3600 },
    ]);
    assert.deepEqual(dayOf(recorder, 'b'), [180, 180]);
    assert.equal(recorder.of('no-host'), undefined);
    const { day, groups } = await recorder.fleet('site');
    assert.deepEqual(day, { observedSeconds: 6 * 3600, readySeconds: 5 * 3600 });
    assert.deepEqual(
      groups.map(({ value, day: { readySeconds } }) => [value, readySeconds / 3600]),
      [
        ['kiel', 2],
        ['ulm', 3],
        [undefined, 0],
      ],
    );
    await recorder.stop();
  },
);

withControlPlane(
  'the sums of the fleet count all Nodes, name the labels of sites, and are kept for a minute',
  async (plane) => {
    const recorder = await startRecorder(plane);
    for (const [name, region] of [
      ['a', 'north'],
      ['b', 'north'],
      ['c', 'south'],
    ] as const) {
      await joinNode(plane, name, { labels: { store: name, region, country: 'de' } });
      await setReady(plane, name, 'True');
    }
    // A Node that has never reported, and lacks the label that each other host has of its own.
    const labels = { region: 'south' };
    await plane.registry.create(nodeKind, undefined, { metadata: { name: 'd', labels } });
    await plane.settle();
    const hosts = async () => (await recorder.fleet('region')).groups.map((each) => [each.value, each.hosts]);
    assert.deepEqual((await recorder.fleet(undefined)).labels, ['region']);
    const before = await recorder.fleet('region');
    assert.deepEqual(await hosts(), [
      ['north', 2],
      ['south', 2],
    ]);
    await joinNode(plane, 'e', { labels: { region: 'south' } });
    await plane.advance(59_000);
    assert.equal(await recorder.fleet('region'), before, 'computed once a minute, however many tabs ask');
    await plane.advance(1_000);
    assert.deepEqual(await hosts(), [
      ['north', 2],
      ['south', 3],
    ]);
    // Many keys do not fill the memory: the oldest answer is dropped.
    const kept = await recorder.fleet('region');
    for (let index = 0; index < 16; index += 1) await recorder.fleet(`key-${index}`);
    assert.notEqual(await recorder.fleet('region'), kept);
    // After the clock was set, an answer would have the times of the earlier clock.
    const last = await recorder.fleet('region');
    recorder.onClockStep();
    assert.notEqual(await recorder.fleet('region'), last);
    await recorder.stop();
  },
);

withControlPlane(
  'time without a coordinator is unknown, and an outage before and after it counts',
  async (plane) => {
    const first = await startRecorder(plane);
    await joinNode(plane, 'a');
    await setReady(plane, 'a', 'True');
    await plane.advance(HOUR_MS);
    await setReady(plane, 'a', 'Unknown');
    await plane.advance(HOUR_MS);
    await first.stop();
    await plane.advance(HOUR_MS);
    const second = await startRecorder(plane);
    await plane.advance(HOUR_MS);
    await setReady(plane, 'a', 'True');
    assert.deepEqual(dayOf(second, 'a'), [180, 60]);
    assert.deepEqual(second.of('a')?.unknown, [{ from: '2026-01-01T02:00:00Z', to: '2026-01-01T03:00:00Z' }]);
    await second.stop();
  },
);

withControlPlane('a killed coordinator loses at most what it had not stored for a minute', async (plane) => {
  const killed = await startRecorder(plane);
  await joinNode(plane, 'a');
  await setReady(plane, 'a', 'True');
  await plane.advance(HOUR_MS);
  await setReady(plane, 'a', 'False');
  await plane.advance(2 * MINUTE_MS);
  // Without `stop`, as after `kill -9`. The host is Ready again while no coordinator records it.
  await plane.advance(MINUTE_MS);
  await setReady(plane, 'a', 'True');
  const next = await startRecorder(plane);
  assert.equal(next.of('a')?.outages[0]?.downSeconds, 180);
  assert.equal(killed.of('a')?.outages[0]?.downSeconds, 180);
  await next.stop();
});

withControlPlane(
  'a healthy or empty fleet stores almost nothing, and a deleted Node leaves nothing',
  async (plane) => {
    const recorder = await startRecorder(plane);
    await plane.advance(HOUR_MS);
    assert.deepEqual(await storedKeys(plane), []);
    await joinNode(plane, 'a');
    await setReady(plane, 'a', 'True');
    const before = await plane.store.revision();
    for (let minute = 0; minute < 30; minute += 1) await plane.advance(MINUTE_MS);
    assert.deepEqual(await storedKeys(plane), ['observation']);
    assert.ok((await plane.store.revision()) - before <= 7, 'one write every five minutes');
    await setReady(plane, 'a', 'False');
    await plane.advance(MINUTE_MS);
    assert.deepEqual(await storedKeys(plane), ['hosts/a', 'observation']);
    await plane.registry.delete(nodeKind, { name: 'a' });
    await plane.settle();
    await plane.advance(MINUTE_MS);
    assert.deepEqual(await storedKeys(plane), ['observation']);
    await recorder.stop();
  },
);

withControlPlane('a damaged record costs its history, and not the start', async (plane) => {
  await plane.store.create(`${STORED}hosts/a`, Buffer.from('{'));
  await plane.store.create(`${STORED}observation`, Buffer.from(''));
  await joinNode(plane, 'a');
  const recorder = await startRecorder(plane);
  await setReady(plane, 'a', 'True');
  await plane.advance(HOUR_MS);
  assert.deepEqual(dayOf(recorder, 'a'), [60, 60]);
  await recorder.stop();
});

withControlPlane('a coordinator that started with its clock ahead loses no time to come', async (plane) => {
  const first = await startRecorder(plane);
  await joinNode(plane, 'a');
  await setReady(plane, 'a', 'True');
  await plane.advance(HOUR_MS);
  await first.stop();
  plane.clock.stepWallClock(1_000 * HOUR_MS);
  const second = await startRecorder(plane);
  plane.clock.stepWallClock(-1_000 * HOUR_MS);
  second.onClockStep();
  await plane.advance(HOUR_MS);
  assert.deepEqual(dayOf(second, 'a'), [120, 120]);
  await second.stop();
  const third = await startRecorder(plane);
  assert.deepEqual(third.of('a')?.unknown, [], 'the corrected gaps are stored');
  await third.stop();
});

withControlPlane('a gap that ends in the future is cut at the start', async (plane) => {
  await joinNode(plane, 'a');
  await setReady(plane, 'a', 'True');
  const now = Math.floor(plane.clock.now() / 1000);
  const stored = { seen: now + 9e6, gaps: [{ from: now - 60, to: now + 9e6 }] };
  await plane.store.create(`${STORED}observation`, Buffer.from(JSON.stringify(stored)));
  const recorder = await startRecorder(plane);
  await plane.advance(HOUR_MS);
  assert.deepEqual(dayOf(recorder, 'a'), [60, 60]);
  await recorder.stop();
});

withControlPlane('a stop during a save waits for it and schedules no other', async (plane) => {
  const { informers, clock, settle } = plane;
  let running = 0;
  let saves = 0;
  let finish: () => void = () => undefined;
  const storage = {
    load: async () => ({ observation: undefined, hosts: new Map() }),
    save: async () => {
      running += 1;
      saves += 1;
      assert.equal(running, 1, 'saves never overlap');
      if (saves === 1) {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
      }
      running -= 1;
    },
  };
  const recorder = new AvailabilityRecorder({ informers, storage, clock, log: silentLogger });
  await recorder.start();
  await joinNode(plane, 'a');
  await setReady(plane, 'a', 'False');
  await plane.advance(2 * MINUTE_MS);
  assert.equal(running, 1);
  const stopped = recorder.stop();
  finish();
  await stopped;
  await settle();
  await setReady(plane, 'a', 'True');
  await plane.advance(HOUR_MS);
  assert.equal(saves, 2);
});
