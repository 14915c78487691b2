/** The coordinator's wall clock is stepped while it runs. No report of a host may depend on it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClockSteps } from '../../../coordinator/clock-steps.js';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { until } from '../../harness/basics/wait-until.js';
import { GRACE_MS, type HubFixture, withHub } from '../../harness/hub/hub-fixture.js';
import { helloOf, rawAgent } from '../../harness/hub/raw-agent.js';

const YEAR = 365 * 86_400_000;
const SET = [
  ['a year back', -YEAR],
  ['an hour ahead', 3_600_000],
] as const;

function conditionOf(fixture: HubFixture, node: string, type: string): string | undefined {
  const { status } = fixture.controlPlane.informers.nodes.get({ name: node }) ?? {};
  return findCondition(status?.conditions, type)?.status;
}

test('a stepped clock is reported once, with the difference; a running clock is not', () => {
  const clock = new ManualClock(YEAR);
  const told: number[] = [];
  const steps = new ClockSteps({ clock, log: silentLogger });
  steps.onStep((byMs) => told.push(byMs));
  steps.start();
  clock.advance(60_000);
  clock.stepWallClock(20_000);
  clock.advance(60_000);
  assert.deepEqual(told, []);
  clock.stepWallClock(20_000);
  clock.advance(60_000);
  clock.stepWallClock(-YEAR);
  clock.advance(60_000);
  assert.deepEqual(told, [40_000, -YEAR]);
  clock.stepWallClock(60_000);
  assert.equal(steps.clock.now(), clock.now());
  assert.deepEqual(told.slice(2), [60_000], 'before anybody learns the new time');
  steps.stop();
  clock.stepWallClock(YEAR);
  clock.advance(60_000);
  assert.equal(told.length, 3);
});

test('times that were stored before the clock was set back are corrected to the current clock', () => {
  const clock = new ManualClock(YEAR);
  const steps = new ClockSteps({ clock, log: silentLogger });
  steps.start();
  const stored = toTimestamp(clock.now());
  clock.advance(5_000);
  assert.equal(steps.timeOf(stored), YEAR);
  clock.stepWallClock(-3_600_000);
  assert.equal(steps.timeOf(stored), clock.now() - 5_000);
  clock.advance(5_000);
  assert.equal(steps.timeOf(stored), clock.now() - 10_000);
  const since = toTimestamp(clock.now());
  clock.advance(5_000);
  clock.stepWallClock(-20_000);
  assert.equal(steps.timeOf(since), clock.now() - 5_000, 'by less than is told');
  assert.equal(steps.timeOf(stored), clock.now() - 15_000);
  assert.equal(Number.isNaN(steps.timeOf('')), true);
  steps.stop();
});

for (const [how, byMs] of SET) {
  withHub(`${how}: later reports of hosts are dated by the current clock`, async (fixture) => {
    const { controlPlane: plane, hub } = fixture;
    const agent = await rawAgent(fixture, 'n1');
    const { metadata } = await fixture.boundPod('p', 'n1');
    const hostTime = plane.clock.now();
    agent.send(helloOf('n1', { hostTimeMs: hostTime, wallTimeMs: hostTime }));
    await agent.waitFor('welcome');
    plane.clock.stepWallClock(byMs);
    hub.onClockStep(byMs);
    await plane.advance(10_000);
    const started = { startedAt: toTimestamp(hostTime + 4_000) };
    const status = {
      phase: 'Running' as const,
      containerStatuses: [
        {
          name: 'main',
          image: 'app:1',
          imageID: '',
          ready: true,
          restartCount: 0,
          state: { running: started },
        },
      ],
    };
    const { uid = '' } = metadata;
    const pods = [{ uid, namespace: 'default', name: 'p', status }];
    agent.send({ kind: 'status', id: 1, hostTimeMs: hostTime + 10_000, pods, removed: [] });
    const told = () => plane.informers.pods.byUid(uid)?.status?.containerStatuses?.[0]?.state?.running;
    await until(() => told() !== undefined);
    assert.equal(told()?.startedAt, toTimestamp(hostTime + byMs + 4_000));
  });

  withHub(`${how}: connected hosts receive the new time`, async (fixture) => {
    const { controlPlane: plane, hub } = fixture;
    const agent = await fixture.agent('n2');
    await until(() => hub.connected === 1 && agent.link.phase === 'live');
    plane.clock.stepWallClock(byMs);
    hub.onClockStep(byMs);
    await until(() => agent.times.length > 0);
    assert.deepEqual(agent.times, [plane.clock.now()]);
  });

  withHub(
    `${how}: hosts with right clocks are reported as wrong until the coordinator's clock is corrected`,
    async (fixture) => {
      const { controlPlane: plane, hub } = fixture;
      const agent = await rawAgent(fixture, 'n1');
      const now = plane.clock.now();
      agent.send(helloOf('n1', { hostTimeMs: now, wallTimeMs: now }));
      await until(() => conditionOf(fixture, 'n1', 'ClockSkewed') === 'False');
      for (const [by, skewed] of [
        [byMs, 'True'],
        [-byMs, 'False'],
      ] as const) {
        plane.clock.stepWallClock(by);
        hub.onClockStep(by);
        await until(() => conditionOf(fixture, 'n1', 'ClockSkewed') === skewed);
      }
    },
  );

  withHub(`${how}: an offline host keeps the rest of its grace period, also a new host`, async (fixture) => {
    const { controlPlane: plane, hub, liveness: presence } = fixture;
    const agent = await fixture.agent('n1');
    await until(() => agent.link.phase === 'live' && conditionOf(fixture, 'n1', 'Connected') === 'True');
    await plane.settle();
    agent.link.stop();
    await until(() => presence.stateOf('n1')?.phase === 'away');
    await plane.advance(GRACE_MS / 2);
    plane.clock.stepWallClock(byMs);
    hub.onClockStep(byMs);
    await plane.registry.modify(nodeKind, { name: 'n1' }, ({ metadata }): undefined => {
      metadata.annotations = { ...metadata.annotations, 'fleet.everynode.dev/grace-period': '60s' };
    });
    await plane.settle();
    await plane.advance(60_000 - GRACE_MS / 2 - 1);
    assert.equal(conditionOf(fixture, 'n1', 'Ready'), 'True');
    await plane.advance(1);
    await until(() => conditionOf(fixture, 'n1', 'Ready') === 'Unknown');
  });
}
