/** Good releases, and disturbances during their rollout. */
import { strict as assert } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';
import type { Scenario } from '../rollout-scenario.js';
import { ScenarioDaemonSet } from '../scenario-daemonset.js';
import { LAB_LABEL, type ScenarioFleet } from '../scenario-fleet.js';
import {
  floorOf,
  nodesOfOpenWaves,
  nodesOfWave,
  soakMs,
  THREE_WAVES,
  WITH_APPROVAL,
} from './scenario-policies.js';

/** Share of the hosts that are offline during the whole rollout. */
const OFFLINE_SHARE = 0.1;

const GOOD: Scenario = {
  name: 'a good release completes three waves',
  rows: [4],
  play: async (stage) => {
    const rolled = await ScenarioDaemonSet.start(stage, 'good', THREE_WAVES);
    const startMs = performance.now();
    await rolled.release(2);
    const soaking = await rolled.reaches('Soaking', 'lab');
    const lab = namesOfLab(stage);
    assert.deepEqual(rolled.hostsThatRan(2).sort(), lab, 'only all hosts of the lab');
    assert.equal(nodesOfWave(soaking, 'lab'), lab.length);
    const status = await rolled.reaches('Completed', 'rest');
    const ms = performance.now() - startMs;
    assert.equal(rolled.hostsThatRan(2).length, stage.nodes);
    await rolled.remove();
    return { phase: status.phase, took: { ms, floorMs: floorOf(THREE_WAVES, status, stage.ready.realMs) } };
  },
};

const PAUSED: Scenario = {
  name: 'a release is paused in its first wave, frozen, and resumed',
  rows: [3],
  isLong: true,
  play: async (stage) => {
    const rolled = await ScenarioDaemonSet.start(stage, 'paused', THREE_WAVES);
    await rolled.release(2);
    await rolled.reaches('Soaking', 'lab');
    for (const [verb, phase] of [
      ['pause', 'Paused'],
      ['freeze', 'Frozen'],
    ] as const) {
      await rolled.steer(verb, '');
      await rolled.reaches(phase);
      const before = await rolled.podsByNode();
      await pause(soakMs(THREE_WAVES));
      assert.deepEqual(await rolled.podsByNode(), before, `${phase}: no Pod is replaced`);
    }
    await rolled.steer('resume', '');
    const { phase } = await rolled.reaches('Completed', 'rest');
    await rolled.remove();
    return { phase };
  },
};

const SECOND_RELEASE: Scenario = {
  name: 'a second release starts before a bad first one has ended',
  rows: [2],
  play: async (stage) => {
    const rolled = await ScenarioDaemonSet.start(stage, 'second', {
      ...THREE_WAVES,
      failureBudget: { maxFailed: '50%', progressDeadlineSeconds: 60, action: 'Pause' },
    });
    await rolled.release(2, { fail: 'true' });
    await rolled.until('the first to fail in the lab', ({ failed }) => failed > 0);
    const watched = await rolled.watchAvailable();
    await rolled.release(3);
    const status = await rolled.reaches('Completed', 'rest');
    await rolled.runsEverywhere(3);
    const lowest = watched.lowest();
    const lab = nodesOfWave(status, 'lab');
    // The minimum: all but one host of the lab may be unavailable, and in other waves as many as their maxUnavailable.
    const least =
      stage.nodes - lab - Math.ceil(0.3 * nodesOfWave(status, 'tenth')) - Math.ceil(0.25 * stage.nodes);
    assert.ok(lowest >= least, `${lowest} were available at the lowest, ${least} must be`);
    const ranBad = rolled.hostsThatRan(2).length;
    await rolled.remove();
    return { phase: status.phase, ranBad, mostBad: lab };
  },
};

const POLICY_CHANGED: Scenario = {
  name: 'the policy changes during a release',
  isLong: true,
  play: async (stage) => {
    const rolled = await ScenarioDaemonSet.start(stage, 'changed', THREE_WAVES);
    await rolled.release(2);
    await rolled.reaches('Soaking', 'lab');
    const [lab] = THREE_WAVES.waves ?? [];
    assert.ok(lab);
    await rolled.changePolicy({ waves: [lab, { name: 'fifth', nodes: '20%', approval: 'Manual' }] });
    const waiting = await rolled.reaches('AwaitingApproval', 'lab');
    assert.equal(rolled.hostsThatRan(2).length, nodesOfWave(waiting, 'lab'), 'only the lab has the release');
    assert.equal(nodesOfWave(waiting, 'fifth'), Math.ceil(0.2 * stage.nodes));
    await rolled.steer('approve', 'fifth');
    const { phase } = await rolled.reaches('Completed', 'rest');
    await rolled.remove();
    return { phase };
  },
};

const DARK: Scenario = {
  name: 'a bad and a good release with 10 % of the hosts offline',
  rows: [1],
  play: async (stage) => {
    const rolled = await ScenarioDaemonSet.start(stage, 'offline', THREE_WAVES);
    const isLab = ({ labels }: { labels: Readonly<Record<string, string>> }) => labels[LAB_LABEL] === 'yes';
    const others = stage.select((host) => !isLab(host));
    const offline = others.slice(0, Math.floor(stage.nodes * OFFLINE_SHARE));
    stage.print(`${offline.length} hosts go offline`);
    await stage.disconnect(offline);
    await rolled.release(2, { fail: 'true' });
    const failed = await rolled.reaches('RolledBack', 'lab');
    await rolled.release(3);
    await rolled.until('all connected hosts to be updated', ({ phase }) => phase === 'Completed');
    await rolled.until('the offline hosts to be deferred', ({ deferred }) => deferred === offline.length);
    await rolled.runsEverywhere(3);
    await stage.reconnect();
    await rolled.until('the reconnected hosts to be updated', ({ updated }) => updated === stage.nodes);
    const ranBad = rolled.hostsThatRan(2);
    assert.ok(offline.every(({ name }) => !ranBad.includes(name)));
    await rolled.remove();
    return { phase: 'Completed', ranBad: ranBad.length, mostBad: nodesOfOpenWaves(failed) };
  },
};

const KILLED: Scenario = {
  name: 'the coordinator is killed in each phase of a good and a bad release',
  isLong: true,
  play: async (stage) => {
    const rolled = await ScenarioDaemonSet.start(stage, 'killed', WITH_APPROVAL);
    await rolled.release(2);
    await stage.killCoordinator();
    await rolled.reaches('Soaking', 'lab');
    await stage.killCoordinator();
    await rolled.reaches('AwaitingApproval', 'lab');
    await stage.killCoordinator();
    const waiting = await rolled.reaches('AwaitingApproval', 'lab');
    assert.equal(rolled.hostsThatRan(2).length, nodesOfWave(waiting, 'lab'), 'no kill opened a wave');
    await rolled.steer('approve', 'tenth');
    await rolled.until('the last wave to begin', ({ wave }) => wave === 'rest');
    await stage.killCoordinator();
    await rolled.reaches('Completed', 'rest');
    await rolled.release(3, { fail: 'true' });
    await rolled.until('the first to fail', ({ failed, phase }) => failed > 0 || phase === 'RolledBack');
    await stage.killCoordinator();
    const status = await rolled.reaches('RolledBack', 'lab');
    await stage.killCoordinator();
    await rolled.reaches('RolledBack', 'lab');
    await rolled.runsEverywhere(2);
    const ranBad = rolled.hostsThatRan(3).length;
    await rolled.remove();
    return { phase: status.phase, ranBad, mostBad: nodesOfOpenWaves(status) };
  },
};

function namesOfLab(stage: ScenarioFleet): string[] {
  return stage
    .select(({ labels }) => labels[LAB_LABEL] === 'yes')
    .map(({ name }) => name)
    .sort();
}

export const GOOD_RELEASES: readonly Scenario[] = [
  GOOD,
  PAUSED,
  SECOND_RELEASE,
  POLICY_CHANGED,
  KILLED,
  DARK,
];
