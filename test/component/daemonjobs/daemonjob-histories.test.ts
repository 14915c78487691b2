/** Random histories of a DaemonJob: hosts go offline and return, Pods fail and are deleted, the controller is killed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podKind } from '../../../coordinator/kinds/index.js';
import { daemonJobFinishedAs } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { isPodTerminal } from '../../../shared/kube/pods/pod-types.js';
import { joinNode } from '../../harness/controllers/control-plane-fixture.js';
import { DaemonJobFixture } from '../../harness/controllers/daemonjob-fixture.js';
import { SeededRandom } from '../../simulation/machines/seeded-random.js';

const HISTORIES = 60;
const STEPS = 14;

interface Draw {
  below(bound: number): number;
}

/** Counts add up, no host succeeds twice, and no two Pods of a host live at once. */
function check(fixture: DaemonJobFixture, what: string): void {
  const [hosts = 0, ...states] = fixture.counts();
  assert.equal(
    states.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    hosts,
    `${what}: sums`,
  );
  for (const [node, count] of fixture.successes) assert.equal(count, 1, `${what}: ${node} succeeded twice`);
  const live = fixture.pods().filter((pod) => !isPodTerminal(pod));
  const nodes = live.map(({ metadata }) => metadata.name.split('.')[1]);
  assert.equal(new Set(nodes).size, nodes.length, `${what}: two live Pods on one host`);
}

async function step(fixture: DaemonJobFixture, draw: Draw, hosts: number): Promise<void> {
  const node = `node-${1 + draw.below(hosts)}`;
  const pods = fixture.pods();
  const pod = pods[draw.below(Math.max(1, pods.length))];
  switch (draw.below(6)) {
    case 0:
      await fixture.setOffline(node, true);
      break;
    case 1:
      await fixture.setOffline(node, false);
      break;
    case 2:
      if (pod) await fixture.plane.registry.delete(podKind, pod.metadata);
      break;
    case 3:
      fixture.kills.plan({ atWrite: 1 + draw.below(4), when: draw.below(2) ? 'after' : 'before' });
      break;
    case 4:
      await fixture.changeJob({ suspend: draw.below(3) === 0, parallelism: 1 + draw.below(3) });
      break;
    default:
      await fixture.restartController();
  }
  await fixture.run(1, draw.below(40) * 1000);
}

async function history(seed: number): Promise<void> {
  const random = new SeededRandom(String(seed));
  const draw: Draw = { below: (bound) => random.integer(0, bound - 1) };
  const hosts = 3;
  const fixture = await DaemonJobFixture.start(hosts, (_node, attempt) =>
    draw.below(3) === 0 ? undefined : draw.below(3) === 0 && attempt < 3 ? 'Failed' : 'Succeeded',
  );
  try {
    await fixture.createJob({ backoffLimit: 50, parallelism: 2 });
    for (let at = 0; at < STEPS; at += 1) {
      await step(fixture, draw, hosts);
      if (at === 5) await joinNode(fixture.plane, 'late');
      check(fixture, `seed ${seed}, step ${at}`);
    }
    for (let node = 1; node <= hosts; node += 1) await fixture.setOffline(`node-${node}`, false);
    await fixture.changeJob({ suspend: false, parallelism: '100%' });
    await fixture.runUntilFinished(80);
    const job = fixture.job();
    const what = `seed ${seed}`;
    assert.equal(job && daemonJobFinishedAs(job), 'Complete', `${what}: ${JSON.stringify(job?.status)}`);
    check(fixture, what);
    const phases = fixture.phases();
    // The job may have completed before the late host joined.
    assert.ok(
      phases.length >= hosts && phases.every((text) => text.endsWith('=Succeeded')),
      `${what}: ${phases}`,
    );
    assert.equal(fixture.successes.size, phases.length, `${what}: each success is recorded`);
  } finally {
    await fixture.stop();
  }
}

test(`a host of a DaemonJob never succeeds twice and is never forgotten, in ${HISTORIES} histories`, async () => {
  for (let seed = 1; seed <= HISTORIES; seed += 1) await history(seed);
});
