/** Jobs, values and the palette for a user whose rights are for one namespace, in a real browser. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../harness/basics/wait-until.js';
import { violationsOf } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import type { SimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 2;
const FLEET_API = '/apis/fleet.everynode.dev/v1';
const IN_SHOP = `${FLEET_API}/namespaces/shop`;

describeInBrowser('the console for a user of one namespace', suite);

function suite(): void {
  const fixture = new ConsoleFixture(NODES);
  let fleet: SimulatedFleet;
  let token: string;

  before(async () => {
    fleet = fixture.fleet;
    await fleet.api.request('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
    const template = { spec: { containers: [{ name: 'c', image: 'flash:1' }] } };
    await fleet.api.request('POST', `${IN_SHOP}/daemonjobs`, {
      metadata: { name: 'flash' },
      spec: { template, suspend: true },
    });
    await fleet.api.request('POST', `${IN_SHOP}/crondaemonjobs`, {
      metadata: { name: 'nightly' },
      spec: { schedule: '0 3 * * *', jobTemplate: { spec: { template } } },
    });
    await fleet.api.request('POST', `${IN_SHOP}/hostvalues`, {
      metadata: { name: 'stores' },
      spec: { hosts: { 'node-1': { store: '4711' } } },
    });
    const labels = { app: 'till' };
    await fleet.api.request('POST', `${IN_SHOP}/rolloutpolicies`, {
      metadata: { name: 'approved' },
      spec: {
        selector: { matchLabels: labels },
        waves: [{ name: 'all', nodes: '100%', approval: 'Manual' }],
      },
    });
    await fleet.api.request('POST', '/apis/apps/v1/namespaces/shop/daemonsets', {
      metadata: { name: 'till', labels },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'till:1' }] } },
      },
    });
    token = await editorOfShop(fleet);
  });

  test('jobs are those of the namespace, and a new job starts in it', async () => {
    const page = await fixture.signedIn('jobs', { token });
    await page.getByRole('row', { name: /^flash / }).waitFor();
    await page.getByRole('row', { name: /^nightly / }).waitFor();
    await page.getByText('kubectl get daemonjobs -n shop').waitFor();
    assert.equal(await page.getByText('You are not allowed').count(), 0);
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole('link', { name: 'Run on hosts…' }).click();
    await page.getByText('everynode job run --selector site=kiel -n shop -- IMAGE').waitFor();
  });

  test('a filter by a namespace that the user may not read says so', async () => {
    const page = await fixture.signedIn('jobs?namespace=kube-system', { token });
    await page.getByText('You are not allowed to list DaemonJobs in namespace kube-system.').waitFor();
    await page.getByText('You are not allowed to watch crondaemonjobs in namespace kube-system.').waitFor();
  });

  test('values are those of the namespace, and new values are created in it', async () => {
    const page = await fixture.signedIn('values?key=store', { token });
    const row = page.getByRole('row', { name: /^stores / });
    await page.getByRole('region', { name: 'Values and hosts' }).getByText('4711').waitFor();
    await page.getByRole('cell', { name: '1', exact: true }).waitFor();
    assert.match(await row.innerText(), /stores\s+0\s+<none>\s+1\s+store\s+shop/);
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole('link', { name: 'Add values…' }).click();
    await page.getByRole('textbox', { name: 'Manifest as YAML' }).getByText('namespace: shop').waitFor();
  });

  test('the palette finds rollouts, jobs and values of the namespace', async () => {
    const page = await fixture.signedIn('daemonsets', { token });
    await page.getByRole('link', { name: 'till', exact: true }).waitFor();
    const rollouts = async () =>
      (await fleet.api.request<{ items: object[] }>('GET', `${IN_SHOP}/rollouts`)).items.length;
    await until(async () => (await rollouts()) > 0, { timeoutMs: 60_000, what: 'the rollout of till' });
    for (const [typed, found] of [
      ['approve till', 'Approve shop/till…'],
      ['flash', 'shop/flash job'],
      ['nightly', 'shop/nightly scheduled job'],
      ['stores', 'shop/stores HostValues'],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to a page' }).fill(typed);
      await page.getByRole('option', { name: found }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog', { name: 'Go to' }).waitFor({ state: 'detached' });
    }
  });

  test('a page of a DaemonSet says in words that its overrides were refused', async () => {
    const page = await fixture.signedIn('daemonsets/shop/till', { token });
    await page.getByText('The overrides could not be loaded: You are not allowed').waitFor();
  });

  for (const path of ['jobs', 'values', 'resources/apps/v1/daemonsets'])
    test(`a link to ${path} puts no text of its own into the command to copy`, async () => {
      const page = await fixture.signedIn(`${path}?namespace=${encodeURIComponent('default;curl x|sh')}`);
      await page.getByText('“default;curl x|sh” is not the name of a namespace').waitFor();
      const command = page.locator('code', { hasText: 'kubectl get' });
      assert.match(await command.innerText(), /^kubectl get \S+ -A$/);
    });

  for (const path of ['jobs', 'values', 'resources/apps/v1/daemonsets'])
    test(`typing a namespace on ${path} requests the whole name only`, async () => {
      const page = await fixture.signedIn(path);
      const field = page.getByRole('searchbox', { name: 'Namespace' });
      await field.waitFor();
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      page.on('websocket', (socket) => requested.push(socket.url()));
      await typeAtOnce(page, 'shop');
      await page.getByRole('link', { name: /^(flash|stores|till)$/ }).waitFor();
      await page.getByText(/-n shop$/).waitFor();
      // The command changes before the list is requested.
      const namespaces = () =>
        requested.flatMap((url) => /\/namespaces\/([^/]+)\/(?!events)/.exec(url)?.[1] ?? []);
      await until(async () => namespaces().length > 0, { timeoutMs: 30_000, what: 'a request of the list' });
      assert.deepEqual([...new Set(namespaces())], ['shop']);
    });

  test('a request that failed is repeated, so that a failover leaves no error behind', async () => {
    const { page } = await fixture.visit();
    let requests = 0;
    await page.route(/daemonjobs\/flash\/hosts\?/, (route) => {
      requests += 1;
      return requests > 1
        ? route.continue()
        : route.fulfill({ status: 503, json: { message: 'a failover' } });
    });
    const { server, token: admin } = fixture.access;
    await page.goto(`${server}/console/jobs/shop/flash`);
    await page.getByLabel('Token').fill(admin);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The map could not be loaded: a failover').waitFor();
    await page.getByRole('img', { name: /Map of the hosts/ }).waitFor();
    assert.equal(await page.getByText('could not be loaded').count(), 0);
    assert.equal(requests, 2, 'map and table share a request');
  });
}

/** Types faster than any user: all keystrokes are handled before a timer can fire. */
function typeAtOnce(page: Page, text: string): Promise<void> {
  return page.evaluate(`{
    const field = document.querySelector('main input[placeholder^="all" i]');
    const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
    for (let length = 1; length <= ${text.length}; length += 1) {
      set.call(field, ${JSON.stringify(text)}.slice(0, length));
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
  }`);
}

/** Returns the token of an account that may change everything in the namespace, except overrides. */
async function editorOfShop({ api }: SimulatedFleet): Promise<string> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop';
  const fleetResources = [
    ...['daemonjobs', 'daemonjobpreviews', 'crondaemonjobs', 'hostvalues', 'effectivevalues', 'rollouts'],
  ];
  await api.request('POST', `${rbac}/roles`, {
    metadata: { name: 'editor' },
    rules: [
      { apiGroups: ['fleet.everynode.dev'], resources: fleetResources, verbs: ['*'] },
      { apiGroups: ['apps'], resources: ['daemonsets'], verbs: ['*'] },
    ],
  });
  await api.request('POST', `${rbac}/rolebindings`, {
    metadata: { name: 'editor' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'editor' },
    subjects: [{ kind: 'ServiceAccount', name: 'editor', namespace: 'shop' }],
  });
  const accounts = '/api/v1/namespaces/shop/serviceaccounts';
  await api.request('POST', accounts, { metadata: { name: 'editor' } });
  const { status } = await api.request<{ status: { token: string } }>('POST', `${accounts}/editor/token`, {
    spec: {},
  });
  return status.token;
}
