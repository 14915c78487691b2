/** The page of coordinators and its banner, in a real browser. The responses of a cluster are simulated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
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

/** Answers lists and watches of coordinators. A watch ends at once, so that the page repeats it. */
async function serve(page: Page, stub: { items: readonly Coordinator[] }): Promise<void> {
  await page.route(PATH, async (route) => {
    const { items } = stub;
    if (!route.request().url().includes('watch=true'))
      return route.fulfill({ json: { kind: 'CoordinatorList', items } });
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const bookmark = { type: 'BOOKMARK', object: { metadata: { name: '', annotations } } };
    const lines = [...items.map((object) => ({ type: 'ADDED', object })), bookmark];
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    // The page may have been left.
    await route.fulfill({ contentType: 'application/json', body }).catch(() => undefined);
  });
}

function suite(): void {
  const fixture = new ConsoleFixture(1);

  async function visitWith(
    stub: { items: readonly Coordinator[] },
    path: string,
    size?: typeof PHONE,
  ): Promise<Page> {
    const { page } = await fixture.visit(size);
    await serve(page, stub);
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
    const page = await visitWith({ items: [LEADER, STANDBY, DOWN] }, 'coordinators');
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
    const stub = { items: [LEADER, STANDBY] };
    const page = await visitWith(stub, 'coordinators');
    await page.getByText('1 other can take over').waitFor();
    stub.items = [LEADER, DOWN];
    await page.getByText('no others can take over').waitFor();
  });

  test('every page has a banner for an error, which leads to the coordinators', async () => {
    const page = await visitWith({ items: [LEADER, STANDBY, DOWN] }, 'services', PHONE);
    const banner = page.getByRole('alert');
    await banner.getByText('shop-c is down').waitFor();
    await banner.getByRole('link', { name: 'Show the coordinators' }).click();
    await page.getByRole('heading', { name: 'Coordinators' }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });

  test('warnings cause no banner, and the navigation has the page', async () => {
    const warning = { severity: 'warning', reason: 'Lagging', message: 'shop-b is behind.' } as const;
    const lagging = { ...STANDBY, status: { ...STANDBY.status, problems: [warning] } };
    const page = await visitWith({ items: [LEADER, lagging] }, 'services');
    await page.getByRole('navigation').getByRole('link', { name: 'Coordinators' }).click();
    await page.getByText('shop-b is behind.').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
  });
}
