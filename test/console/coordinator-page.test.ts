/** The page of coordinators and its banner, in a real browser. The responses of a cluster are simulated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page, WebSocketRoute } from 'playwright-core';
import type { Coordinator } from '../../shared/kube/fleet/coordinator-types.js';
import { PHONE, signIn, violationsOf } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';

const PATH = /\/apis\/fleet\.everynode\.dev\/v1\/coordinators(\?.*)?$/;

describeInBrowser('the page of coordinators', suite);

function coordinator(name: string, status: Partial<Coordinator['status']>): Coordinator {
  return {
    ...{ kind: 'Coordinator', apiVersion: 'fleet.everynode.dev/v1' },
    metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { server: `https://${name}.example:7443`, memberId: name },
    status: { role: 'Follower', version: '1.0.0', lagRecords: 0, problems: [], conditions: [], ...status },
  };
}

const LEADER = coordinator('shop-a', {
  role: 'Leader',
  term: 7,
  clockSkewSeconds: 0,
  etcd: [
    { endpoint: 'https://e1:2379', version: '3.5.9', isLeader: true, dbBytes: 3 * 2 ** 20, alarms: [] },
    { endpoint: 'https://e2:2379', error: 'connection refused' },
  ],
});
const STANDBY = coordinator('shop-b', { lagRecords: 1_234, clockSkewSeconds: -12 });
const DOWN = coordinator('shop-c', {
  role: 'Down',
  problems: [{ severity: 'error', reason: 'Down', message: 'shop-c is down or cut off from etcd.' }],
});

/** Answers lists and watches of coordinators. A change closes the watches, and the page opens another one. */
class StubbedCoordinators {
  #items: readonly Coordinator[];
  readonly #watches = new Set<WebSocketRoute>();

  constructor(items: readonly Coordinator[]) {
    this.#items = items;
  }

  async serve(page: Page): Promise<void> {
    await page.route(PATH, (route) =>
      route.fulfill({ json: { kind: 'CoordinatorList', items: this.#items } }),
    );
    await page.routeWebSocket(PATH, (socket) => {
      this.#watches.add(socket);
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      const bookmark = { type: 'BOOKMARK', object: { metadata: { name: '', annotations } } };
      const lines = [...this.#items.map((object) => ({ type: 'ADDED', object })), bookmark];
      socket.send(Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
    });
  }

  async change(items: readonly Coordinator[]): Promise<void> {
    this.#items = items;
    const open = [...this.#watches];
    this.#watches.clear();
    await Promise.all(open.map((socket) => socket.close()));
  }
}

function suite(): void {
  const fixture = new ConsoleFixture(1);

  async function visitWith(stub: StubbedCoordinators, path: string, size?: typeof PHONE): Promise<Page> {
    const { page } = await fixture.visit(size);
    await stub.serve(page);
    await signIn(page, fixture.access.server, fixture.access.token, path);
    return page;
  }

  test('a single coordinator has one line on the page, and no entry in the navigation', async () => {
    const page = await fixture.signedIn('coordinators');
    await page.getByText('is the only coordinator').waitFor();
    assert.equal(await page.getByRole('table').count(), 0);
    assert.equal(await page.getByRole('navigation').getByText('Coordinators').count(), 0);
    assert.equal(await page.getByRole('alert').count(), 0);
  });

  test('the page shows roles, lag, clocks, etcd and problems', async () => {
    const page = await visitWith(new StubbedCoordinators([LEADER, STANDBY, DOWN]), 'coordinators');
    await page.getByText('shop-a leads (term 7); 1 other can take over.').waitFor();
    const row = async (name: string) => (await page.getByRole('row', { name }).innerText()).split('\t');
    assert.deepEqual((await row('shop-b')).slice(1, 5), [
      'Follower',
      '1,234 records',
      '1.0.0',
      '12 s behind',
    ]);
    assert.deepEqual((await row('shop-c')).slice(1, 2), ['Down']);
    assert.deepEqual((await row('e1:2379')).slice(1), ['Healthy, leads', '3.5.9', '3.0 MiB']);
    assert.match((await row('e2:2379')).join(), /No answer: connection refused/);
    await page.getByRole('region', { name: 'What is wrong' }).getByText('shop-c is down').waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });

  test('the page changes without a reload', async () => {
    const stub = new StubbedCoordinators([LEADER, STANDBY]);
    const page = await visitWith(stub, 'coordinators');
    await page.getByText('1 other can take over').waitFor();
    await stub.change([LEADER, DOWN]);
    await page.getByText('no others can take over').waitFor();
  });

  test('every page has a banner for an error, which leads to the coordinators', async () => {
    const page = await visitWith(new StubbedCoordinators([LEADER, STANDBY, DOWN]), 'services', PHONE);
    const banner = page.getByRole('alert');
    await banner.getByText('shop-c is down').waitFor();
    await banner.getByRole('link', { name: 'Show the coordinators' }).click();
    await page.getByRole('heading', { name: 'Coordinators' }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });

  test('warnings cause no banner, and the navigation has the page', async () => {
    const warning = { severity: 'warning', reason: 'Lagging', message: 'shop-b is behind.' } as const;
    const lagging = { ...STANDBY, status: { ...STANDBY.status, problems: [warning] } };
    const page = await visitWith(new StubbedCoordinators([LEADER, lagging]), 'services');
    await page.getByRole('navigation').getByRole('link', { name: 'Coordinators' }).click();
    await page.getByText('shop-b is behind.').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  });
}
