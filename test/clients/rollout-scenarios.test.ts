/**
 * The scenarios of `npm run rollouts` with fewer hosts: good releases complete, bad ones reach no host beyond the open
 * wave.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ALL_SCENARIOS } from '../rollouts/play-scenarios.js';
import { isContained } from '../rollouts/rollout-scenario.js';
import { ScenarioFleet } from '../rollouts/scenario-fleet.js';

const NODES = 100;
const SPEED = 1_200;

describe(`rollouts on ${NODES} hosts`, () => {
  let stage: ScenarioFleet;
  before(async () => {
    stage = await ScenarioFleet.start({ nodes: NODES, speed: SPEED, print: () => undefined });
  });
  after(() => stage.stop());

  for (const scenario of ALL_SCENARIOS.filter(({ isLong }) => !isLong)) {
    const rows = scenario.rows ? ` (rows ${scenario.rows.join(', ')})` : '';
    test(`${scenario.name}${rows}`, async (context) => {
      const outcome = await scenario.play(stage);
      context.diagnostic(`${outcome.phase}, ${outcome.hostsWithBadRelease ?? 0} hosts ran the bad release`);
      assert.ok(
        isContained(outcome),
        `${outcome.hostsWithBadRelease} hosts ran it, ${outcome.maxHostsWithBadRelease} might`,
      );
    });
  }
});
