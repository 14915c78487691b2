/** Rollouts and sites are reported to webhooks over HTTP: once, and also after an outage of the receiver. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe } from 'node:test';
import { Notifier } from '../../../coordinator/controllers/notifications/notifier.js';
import { webhookReceivers } from '../../../coordinator/controllers/notifications/webhook-receivers.js';
import { TOPICS } from '../../../coordinator/decisions/notifications/problem.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { until } from '../../harness/basics/wait-until.js';
import { isNew, type RolloutFixture, withPolicy } from '../../harness/controllers/rollout-fixture.js';

const WAVES = [
  { name: 'canary', nodes: 1 },
  { name: 'shops', nodes: 4, approval: 'Manual' as const },
];
const SITES = { labels: (_: string, index: number) => ({ site: index < 4 ? 'kiel' : 'ulm' }) };

describe('notifications', () => {
  /** The titles of the accepted messages. */
  const titles: string[] = [];
  let status = 200;
  let refused = 0;
  let server: Server;
  let notifier: Notifier;

  before(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      if (status === 200) titles.push(JSON.parse(Buffer.concat(chunks).toString()).title);
      else refused += 1;
      response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    titles.length = 0;
    status = 200;
    refused = 0;
  });
  after(() => server.close());

  async function start({ fleet }: RolloutFixture): Promise<void> {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const receivers = webhookReceivers({
      siteLabel: 'site',
      console: undefined,
      receivers: [{ name: 'ops', url, form: 'json', topics: TOPICS }],
    });
    const { informers, clock } = fleet;
    notifier = new Notifier({ informers, clock, receivers, siteLabel: 'site', log: silentLogger });
    await notifier.start();
  }
  const reported = (...expected: string[]) =>
    until(() => JSON.stringify(titles) === JSON.stringify(expected) || JSON.stringify(titles));

  withPolicy(
    'a wave that waits for approval is reported once, and not again after a restart',
    { waves: WAVES, failureBudget: { maxFailed: 0 } },
    async (rolling) => {
      await start(rolling);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('AwaitingApproval', 'canary', 1);
      await reported('Rollout of default/web waits for approval');
      await notifier.stop();
      await start(rolling);
      const [updated] = rolling.newPods();
      rolling.fleet.agents.ready = (pod) => !isNew(pod);
      await rolling.approve('shops');
      const late = rolling.newPods().find(({ metadata }) => metadata.uid !== updated?.metadata.uid);
      assert.ok(late);
      await rolling.crash(late);
      await reported('Rollout of default/web waits for approval', 'Rollout of default/web failed');
      await notifier.stop();
    },
  );

  withPolicy(
    'a failed rollout is reported when the receiver answers again',
    { waves: WAVES, failureBudget: { maxFailed: 0 } },
    async (rolling) => {
      await start(rolling);
      status = 503;
      rolling.fleet.agents.ready = (pod) => !isNew(pod);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'canary', 1);
      const [pod] = rolling.newPods();
      assert.ok(pod);
      await rolling.crash(pod);
      await until(() => refused > 0);
      status = 200;
      await until(() => {
        rolling.fleet.clock.advance(1000);
        return titles.length > 0;
      });
      assert.deepEqual(titles, ['Rollout of default/web failed']);
      await notifier.stop();
    },
  );

  withPolicy(
    'a site that is offline for a minute is reported, and that it is back',
    { waves: WAVES },
    async (rolling) => {
      await start(rolling);
      await rolling.contact('n0', 'Unknown', 'False');
      await rolling.contact('n1', 'Unknown', 'False');
      await rolling.advance(59_000);
      assert.deepEqual(titles, []);
      await rolling.advance(1_000);
      await reported('Site kiel is offline');
      await rolling.contact('n0', 'True', 'True');
      await reported('Site kiel is offline', 'Site kiel is online again');
      await notifier.stop();
    },
    SITES,
  );

  withPolicy(
    'a shorter outage of a site is not reported',
    { waves: WAVES },
    async (rolling) => {
      await start(rolling);
      for (const node of ['n0', 'n1', 'n2', 'n3']) await rolling.contact(node, 'Unknown', 'False');
      await rolling.advance(30_000);
      for (const node of ['n0', 'n1', 'n2', 'n3']) await rolling.contact(node, 'True', 'True');
      await rolling.contact('n4', 'Unknown', 'False');
      await rolling.advance(120_000);
      await rolling.contact('n5', 'Unknown', 'False');
      await rolling.contact('n6', 'Unknown', 'False');
      await rolling.advance(60_000);
      await reported('Site ulm is offline');
      await notifier.stop();
    },
    SITES,
  );
});
