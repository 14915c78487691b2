/** Rollouts by waves in maintenance windows, and the order of hosts. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { until } from '../../harness/basics/wait-until.js';
import { addNode } from '../../harness/controllers/daemon-fleet.js';
import {
  isNew,
  NODES,
  REF,
  type RolloutFixture,
  withPolicy,
} from '../../harness/controllers/rollout-fixture.js';

const HOUR_MS = 3_600_000;
const NIGHTLY = { schedule: '0 3 * * *', durationSeconds: 3600, timeZoneLabel: 'tz' };
const EAST = 'Asia.Tokyo';
const WEST = 'Europe.Berlin';
const labels = (_node: string, index: number) => ({ tz: index < 4 ? EAST : WEST, site: `s${index % 3}` });

/** Advances to the next time at which UTC shows `hour`. */
async function advanceTo(rolling: RolloutFixture, hour: number): Promise<void> {
  const { clock } = rolling.fleet;
  const day = 24 * HOUR_MS;
  const now = clock.now();
  const target = Math.floor(now / day) * day + hour * HOUR_MS;
  await rolling.advance((target > now ? target : target + day) - now);
}

const where = (rolling: RolloutFixture, image: string) =>
  Object.entries(rolling.fleet.images())
    .filter(([, one]) => one === image)
    .map(([node]) => node)
    .sort();

describe('windows', () => {
  withPolicy(
    'delay each host until 03:00 local time',
    { windows: [NIGHTLY] },
    async (rolling) => {
      // January: 03:00 in Tokyo is 18:00 UTC, in Berlin 02:00 UTC.
      await advanceTo(rolling, 12);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('AwaitingWindow', 'rest', 0);
      assert.equal(rolling.status?.outsideWindow, 10);
      assert.equal(rolling.status?.nextWindowTime?.slice(11), '18:00:00Z');
      await rolling.advance(6 * HOUR_MS - 1_000);
      await rolling.expectStatus('AwaitingWindow', 'rest', 0);
      await rolling.advance(1_000);
      await rolling.expectStatus('AwaitingWindow', 'rest', 4);
      assert.deepEqual(where(rolling, 'app:2'), NODES.slice(0, 4));
      assert.equal(rolling.status?.nextWindowTime?.slice(11), '02:00:00Z');
      await rolling.fleet.restartController();
      await rolling.expectStatus('AwaitingWindow', 'rest', 4);
      await rolling.advance(8 * HOUR_MS);
      await rolling.expectStatus('Completed', 'rest', 10);
    },
    { labels },
  );

  withPolicy(
    'that close during an update let it finish, and start no other',
    { windows: [NIGHTLY], waves: [{ name: 'canary', nodes: 10, maxUnavailable: 2 }] },
    async (rolling) => {
      rolling.fleet.agents.ready = (pod) => !isNew(pod);
      await advanceTo(rolling, 2);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 2);
      await rolling.advance(HOUR_MS);
      await rolling.makeNewReady();
      await rolling.expectStatus('AwaitingWindow', 'canary', 2);
    },
    { labels: () => ({ tz: WEST }) },
  );

  withPolicy(
    'give a host without a Pod the completed revision; when overridden by a user, they delay no host',
    { windows: [NIGHTLY] },
    async (rolling) => {
      await advanceTo(rolling, 12);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('AwaitingWindow', 'rest', 0);
      await addNode(rolling.fleet.registry, 'late');
      const pod = rolling.podOn('n0');
      assert.ok(pod);
      await rolling.fleet.delete(pod);
      await rolling.expectStatus('AwaitingWindow', 'rest', 0);
      assert.equal(rolling.images['app:1'], 11);
      await assert.rejects(rolling.steer('override-windows', 'n0'), /requires a reason/);
      await rolling.steer('override-windows', 'n0,n1', 'a hole in the lock');
      await rolling.expectStatus('AwaitingWindow', 'rest', 2);
      await rolling.steer('override-windows', '*', 'and everywhere else');
      await rolling.expectStatus('Completed', 'rest', 11);
      const requests = rolling.status?.steering?.requests?.map(({ user, reason }) => `${user}: ${reason}`);
      assert.deepEqual(requests, ['ann: a hole in the lock', 'ann: and everywhere else']);
    },
    { labels },
  );

  withPolicy(
    'that a policy gets during a rollout apply from then on',
    { waves: [{ name: 'canary', nodes: 10, maxUnavailable: 2 }] },
    async (rolling) => {
      await advanceTo(rolling, 12);
      rolling.fleet.agents.ready = (pod) => !isNew(pod);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 2);
      await rolling.policy((spec) => {
        spec.windows = [NIGHTLY];
      });
      await rolling.makeNewReady();
      await rolling.expectStatus('AwaitingWindow', 'canary', 2);
    },
    { labels },
  );

  withPolicy(
    'are closed by a freeze period, also for healthy hosts that revert',
    {
      waves: [{ name: 'canary', nodes: 4 }],
      failureBudget: { maxFailed: 0, action: 'RollBack' },
    },
    async (rolling) => {
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Completed', 'rest', 10);
      const from = toTimestamp(rolling.fleet.clock.now() - HOUR_MS);
      const to = toTimestamp(rolling.fleet.clock.now() + HOUR_MS);
      await rolling.policy((spec) => {
        spec.freezes = [{ from, to, reason: 'Christmas' }];
      });
      const [ill] = rolling.newPods();
      assert.ok(ill);
      await rolling.fleet.setPod(ill, 'Running', false);
      await rolling.steer('abort', 'it leaks');
      await rolling.expectStatus('Failed', 'rest', 9);
      await rolling.advance(HOUR_MS);
      await rolling.expectStatus('RolledBack', 'rest', 0);
    },
  );

  withPolicy(
    'closed by a freeze of all time keep even unavailable Pods until it is over',
    { waves: [{ name: 'canary', nodes: 4 }], failureBudget: { maxFailed: 0, action: 'RollBack' } },
    async (rolling) => {
      const { fleet } = rolling;
      fleet.agents.ready = (pod) => !isNew(pod);
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 4);
      const from = toTimestamp(fleet.clock.now() - HOUR_MS);
      const to = toTimestamp(fleet.clock.now() + HOUR_MS);
      await rolling.policy((spec) => {
        spec.freezes = [{ from, to, scope: 'Everything' }];
      });
      await rolling.steer('abort', '', 'it leaks');
      await rolling.expectStatus('Failed', 'canary', 4);
      await rolling.advance(HOUR_MS);
      await rolling.expectStatus('RolledBack', 'canary', 0);
    },
  );
});

describe('the order of hosts', () => {
  withPolicy(
    'canaries are on as many sites as exist, and none on an unhealthy host',
    { waves: [{ name: 'canary', nodes: 3, soakSeconds: 60 }], spreadBy: 'site' },
    async (rolling) => {
      for (const node of ['n0', 'n3', 'n6']) await rolling.contact(node, 'False', 'True');
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Soaking', 'canary', 3);
      const nodes = where(rolling, 'app:2');
      assert.equal(new Set(nodes.map((node) => Number(node.slice(1)) % 3)).size, 3, nodes.join());
      assert.ok(!nodes.some((node) => ['n0', 'n3', 'n6'].includes(node)), nodes.join());
    },
    { labels },
  );

  withPolicy(
    'broken Pods of an unfinished release are replaced before any healthy one',
    { waves: [{ name: 'canary', nodes: 3, maxUnavailable: 3, soakSeconds: 60 }] },
    async (rolling) => {
      const { fleet } = rolling;
      fleet.agents.ready = (pod) => !isNew(pod);
      await fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 3);
      const broken = where(rolling, 'app:2');
      for (const node of broken) await rolling.contact(node, 'False', 'True');
      await fleet.setImage('web', 'app:3');
      await until(() => rolling.images['app:3'] === 3);
      assert.deepEqual(where(rolling, 'app:3'), broken);
    },
  );

  withPolicy(
    'a reassignment of waves during a rollout brings the release to no other host',
    { waves: [{ name: 'canary', nodes: 3, soakSeconds: 60 }] },
    async (rolling) => {
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Soaking', 'canary', 3);
      const first = where(rolling, 'app:2');
      for (const node of first) await rolling.contact(node, 'False', 'True');
      await rolling.fleet.restartController();
      await rolling.policy((spec) => {
        spec.spreadBy = 'site';
      });
      await rolling.expectStatus('Soaking', 'canary', 3);
      assert.deepEqual(where(rolling, 'app:2'), first);
      assert.ok(rolling.fleet.informers.rollouts.get(REF));
    },
  );
});
