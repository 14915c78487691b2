/** Releases that are bad in different ways: how far each one gets before it is stopped and rolled back. */
import { strict as assert } from 'node:assert';
import { scaledAmount } from '../../../coordinator/decisions/rollouts/wave-plan.js';
import type { Scenario, ScenarioOutcome } from '../rollout-scenario.js';
import { ScenarioDaemonSet } from '../scenario-daemonset.js';
import { HARDWARE_LABEL, LAB_LABEL, type ScenarioFleet } from '../scenario-fleet.js';
import { MAX_UNAVAILABLE, nodesOfOpenWaves, nodesOfWave, THREE_WAVES } from './scenario-policies.js';

/** The release crashes on every fiftieth host. None of these hosts is in the lab. */
const BAD_EVERY = 50;
const FIRST_BAD = 8;
/** Message delay of a host in the lab. */
const WORD_MS = 500;
/** Long enough for the waves to continue without the disconnected hosts. */
const CONFIRM_SECONDS = 8;

/** Rolls a bad release out and waits for its rollback; `wave`: the last wave that it may reach. */
async function play(
  stage: ScenarioFleet,
  name: string,
  pretence: Record<string, string>,
  { wave, meanwhile }: { wave?: string; meanwhile?: (rolled: ScenarioDaemonSet) => Promise<unknown> } = {},
): Promise<ScenarioOutcome> {
  const rolled = await ScenarioDaemonSet.start(stage, name, THREE_WAVES);
  await rolled.release(2, pretence);
  await meanwhile?.(rolled);
  const status = await rolled.reaches('RolledBack');
  if (wave) assert.equal(status.wave, wave);
  const ran = rolled.hostsThatRan(2);
  await rolled.remove();
  const mostBad = nodesOfOpenWaves(status);
  return {
    phase: `${status.phase} in ${status.wave}`,
    hostsWithBadRelease: ran.length,
    maxHostsWithBadRelease: mostBad,
  };
}

/** Names of the hosts on which the release crashes. */
function oneInFifty(nodes: number): string {
  const count = Math.ceil((nodes - FIRST_BAD) / BAD_EVERY);
  return Array.from({ length: count }, (_, index) => `host-${FIRST_BAD + index * BAD_EVERY}`).join(',');
}

const CRASHES: Scenario = {
  name: 'a release crashes on every host',
  rows: [5],
  isLong: true,
  play: (stage) => play(stage, 'everywhere', { fail: 'true' }, { wave: 'lab' }),
};

const ON_TWO_PERCENT: Scenario = {
  name: 'a release crashes on 2 % of the hosts, none of them in the lab',
  play: (stage) => play(stage, 'twopercent', { 'fail-on': oneInFifty(stage.nodes) }),
};

const ON_OLD_HARDWARE: Scenario = {
  name: 'a release crashes on one hardware label only',
  play: (stage) => play(stage, 'hardware', { 'fail-on': `${HARDWARE_LABEL}=old` }, { wave: 'lab' }),
};

const AFTER_TEN_MINUTES: Scenario = {
  name: 'a release crashes only after ten minutes',
  play: (stage) => play(stage, 'later', { 'fail-after': '10m' }, { wave: 'lab' }),
};

const AFTER_REBOOT: Scenario = {
  name: 'a release crashes only after a reboot',
  play: (stage) =>
    play(
      stage,
      'reboot',
      { 'fail-after-reboot': 'true' },
      {
        wave: 'lab',
        meanwhile: async (rolled) => {
          await rolled.reaches('Soaking', 'lab');
          const [host] = stage.select(({ labels }) => labels[LAB_LABEL] === 'yes');
          stage.print(`${host?.name} reboots`);
          await host?.reboot();
        },
      },
    ),
};

const NO_IMAGE: Scenario = {
  name: 'a release has an image that cannot be pulled',
  isLong: true,
  play: async (stage) => {
    const outcome = await play(stage, 'noimage', { pull: 'fail' }, { wave: 'lab' });
    assert.equal(outcome.hostsWithBadRelease, 0, 'no container of the release was ever started');
    return outcome;
  },
};

/**
 * The release breaks the network. The hosts restore the previous revision by themselves and reconnect. The link breaks
 * at the start of the container, before the report of the start is sent. The coordinator's last status of the host is
 * that it waits for the image.
 */
const CUTS_OFF: Scenario = {
  name: 'a release cuts its hosts off from the coordinator',
  rows: [22],
  play: async (stage) => {
    const confirm = { deadlineSeconds: CONFIRM_SECONDS };
    const rolled = await ScenarioDaemonSet.start(stage, 'cuts', { ...THREE_WAVES, confirm });
    const lab = stage.select(({ labels }) => labels[LAB_LABEL] === 'yes');
    await stage.slow(lab, WORD_MS);
    await rolled.release(2, { 'cut-link': 'true', 'pull-time': '30m' });
    const status = await rolled.reaches('RolledBack');
    assert.equal(status.wave, 'lab');
    await stage.slow(lab, 0);
    await rolled.runsEverywhere(1);
    const ranBad = rolled.hostsThatRan(2).length;
    await rolled.remove();
    const mostBad = scaledAmount(MAX_UNAVAILABLE, nodesOfWave(status, 'lab'), Math.ceil);
    return { phase: `${status.phase} in ${status.wave}`, ranBad, mostBad };
  },
};

/** Hosts that never had the release keep their Pods with the same UID: a rollback must not restart healthy hosts. */
const ONLY_THE_TOUCHED: Scenario = {
  name: 'a rollback changes only the hosts with the bad release',
  rows: [5],
  play: async (stage) => {
    const rolled = await ScenarioDaemonSet.start(stage, 'touched', THREE_WAVES);
    const before = await rolled.podsByNode();
    await rolled.release(2, { fail: 'true' });
    const status = await rolled.reaches('RolledBack');
    await rolled.runsEverywhere(1);
    const after = await rolled.podsByNode();
    const replaced = [...before].filter(([node, uid]) => after.get(node) !== uid);
    assert.ok(replaced.length <= nodesOfWave(status, 'lab'), `${replaced.length} Pods were replaced`);
    const ranBad = rolled.hostsThatRan(2).length;
    // A host has never run the release if its new Pod was deleted before the start.
    assert.ok(ranBad <= replaced.length, `${ranBad} hosts ran it, ${replaced.length} Pods were replaced`);
    await rolled.remove();
    return { phase: status.phase, ranBad, mostBad: nodesOfWave(status, 'lab') };
  },
};

export const BAD_RELEASES: readonly Scenario[] = [
  CRASHES,
  ON_TWO_PERCENT,
  ON_OLD_HARDWARE,
  AFTER_TEN_MINUTES,
  AFTER_REBOOT,
  NO_IMAGE,
  CUTS_OFF,
  ONLY_THE_TOUCHED,
];
