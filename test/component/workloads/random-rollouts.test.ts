/** Random changes, kills and failed writes: a Deployment keeps its budget and converges. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isActivePod, isReady } from '../../../coordinator/decisions/workloads/replica-pods.js';
import { type DeploymentFixture, withDeployments } from '../../harness/controllers/deployment-fixture.js';
import { seededRandom } from '../../harness/engines/pod-churn.js';

const SEEDS = 25;
const ROUNDS = 40;
const REPLICAS = 5;

interface Budget {
  maxSurge: number;
  maxUnavailable: number;
}

/** Changes the Deployment, the readiness of Pods, and the fate of the next writes. */
async function round(fixture: DeploymentFixture, random: () => number): Promise<void> {
  if (random() < 0.2) await fixture.setImage(`web:${Math.floor(random() * 4)}`);
  if (random() < 0.1) {
    await fixture.change(({ spec }) => {
      if (spec.paused) delete spec.paused;
      else spec.paused = true;
    });
  }
  if (random() < 0.2) {
    fixture.kills.plan({
      atWrite: 1 + Math.floor(random() * 6),
      when: random() < 0.5 ? 'before' : 'after',
    });
  }
  for (const pod of fixture.pods()) {
    if (isActivePod(pod) && !isReady(pod) && random() < 0.5) await fixture.setReady(pod, 'True');
  }
  await fixture.plane.advance(random() < 0.5 ? 10 : 2_000);
  await fixture.restartIfKilled();
}

async function runSeed(seed: number, { maxSurge, maxUnavailable }: Budget): Promise<void> {
  await withDeployments(async (fixture) => {
    const random = seededRandom(seed);
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
    await fixture.create({ replicas: REPLICAS, strategy, revisionHistoryLimit: 3 });
    await fixture.run();
    fixture.watch();
    fixture.kills.isFailing = () => random() < 0.2;
    for (let turn = 0; turn < ROUNDS; turn += 1) await round(fixture, random);
    fixture.kills.isFailing = () => false;
    await fixture.change(({ spec }) => {
      delete spec.paused;
    });
    await fixture.run(100, () => fixture.isDone(), 10_000);
    const what = `seed ${seed}, surge ${maxSurge}, unavailable ${maxUnavailable}`;
    assert.ok(fixture.isDone(), `${what}: ${JSON.stringify(fixture.deployment()?.status)}`);
    assert.ok(fixture.most <= REPLICAS + maxSurge, `${what}: ${fixture.most} Pods alive`);
    assert.ok(fixture.fewest >= REPLICAS - maxUnavailable, `${what}: only ${fixture.fewest} Pods ready`);
  });
}

describe('a Deployment that is changed at random', () => {
  for (const budget of [
    { maxSurge: 1, maxUnavailable: 1 },
    { maxSurge: 0, maxUnavailable: 2 },
    { maxSurge: 3, maxUnavailable: 0 },
  ]) {
    test(`keeps surge ${budget.maxSurge} and unavailable ${budget.maxUnavailable}`, async () => {
      for (let seed = 1; seed <= SEEDS; seed += 1) await runSeed(seed, budget);
    });
  }
});
