/** A rollout keeps its budgets wherever the controllers are killed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type DeploymentFixture,
  imageOf,
  withDeployments,
} from '../../harness/controllers/deployment-fixture.js';
import type { Kill } from '../../harness/controllers/write-kills.js';

/** More writes than two rollouts need. */
const MAX_WRITES = 150;

interface Budget {
  strategy: object;
  most: number;
  fewest: number;
}

const BUDGETS: Record<string, Budget> = {
  'surge 1, unavailable 1': {
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
    most: 4,
    fewest: 2,
  },
  'surge 0': {
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    most: 3,
    fewest: 2,
  },
  'unavailable 0': {
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
    most: 5,
    fewest: 3,
  },
  Recreate: { strategy: { type: 'Recreate' }, most: 3, fewest: 0 },
};

async function expectDone(fixture: DeploymentFixture, what: string): Promise<void> {
  await fixture.run();
  assert.ok(fixture.isDone(), `${what}: ${JSON.stringify(fixture.deployment()?.status)}`);
}

/** Runs a creation and an update. Returns false if they ended before the kill. */
function runWithKill({ strategy, most, fewest }: Budget, kill: Kill): Promise<boolean> {
  return withKilled(kill, async (fixture, what) => {
    await fixture.create({ replicas: 3, strategy });
    await expectDone(fixture, `${what}, creation`);
    assert.ok(fixture.most <= 3, `${what}: ${fixture.most} Pods of a new Deployment`);
    fixture.watch();
    await fixture.setImage('web:2');
    await expectDone(fixture, `${what}, update`);
    assert.ok(fixture.most <= most, `${what}: ${fixture.most} Pods alive`);
    assert.ok(fixture.fewest >= fewest, `${what}: only ${fixture.fewest} Pods ready`);
    assert.deepEqual(fixture.pods().map(imageOf), ['web:2', 'web:2', 'web:2'], what);
    assert.equal(fixture.replicaSets().length, 2, `${what}: ReplicaSets`);
    assert.equal(
      fixture.deployment()?.metadata.annotations?.['deployment.kubernetes.io/revision'],
      '2',
      what,
    );
    assert.equal(fixture.deployment()?.status?.collisionCount, undefined, `${what}: collisions`);
  });
}

async function withKilled(
  kill: Kill,
  check: (fixture: DeploymentFixture, what: string) => Promise<void>,
): Promise<boolean> {
  let isKilled = false;
  await withDeployments(async (fixture) => {
    await check(fixture, `killed ${kill.when} write ${kill.atWrite}`);
    isKilled = fixture.kills.kills > 0;
  }, kill);
  return isKilled;
}

describe('a Deployment whose controllers are killed', () => {
  for (const [name, budget] of Object.entries(BUDGETS)) {
    for (const when of ['before', 'after'] as const) {
      test(`${when} any write converges within its budget (${name})`, async () => {
        let kills = 0;
        while (kills < MAX_WRITES && (await runWithKill(budget, { atWrite: kills + 1, when }))) kills += 1;
        assert.ok(kills > 20 && kills < MAX_WRITES, `${kills} kills`);
      });
    }
  }
});
