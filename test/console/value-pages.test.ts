/** The pages of HostValues in the console, in a real browser. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { HostValues } from '../../shared/kube/host-values/host-values-types.js';
import { PHONE, signIn, tooWideOf, violationsOf } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import { rewrite } from '../harness/console/yaml-editor-steps.js';
import type { SimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 3;
const VALUES = '/apis/fleet.everynode.dev/v1/namespaces/default/hostvalues';
const OVERRIDES = '/apis/fleet.everynode.dev/v1/namespaces/default/daemonsetoverrides';
const MERGE = 'application/merge-patch+json';
const PIN = 'not-for-screens';

describeInBrowser('values per host in the console', suite);

function suite(): void {
  const fixture = new ConsoleFixture(NODES);
  let fleet: SimulatedFleet;

  before(async () => {
    fleet = fixture.fleet;
    await fleet.api.request(
      'PATCH',
      '/api/v1/nodes/node-1',
      { metadata: { labels: { site: 'kiel' } } },
      MERGE,
    );
    const bank = { metadata: { name: 'bank' }, stringData: { pin: PIN } };
    await fleet.api.request('POST', '/api/v1/namespaces/default/secrets', bank);
    const put = (name: string, spec: object) =>
      fleet.api.request('POST', VALUES, { metadata: { name }, spec });
    await put('defaults', {
      priority: -1,
      values: { memory: '64Mi' },
      secrets: { pin: { name: 'bank', key: 'pin' } },
    });
    await put('kiel', { nodeSelector: { matchLabels: { site: 'kiel' } }, values: { memory: '128Mi' } });
    await put('stores', { hosts: { 'node-1': { store: '4711' }, 'node-2': { store: '4712' } } });
    const env = [{ name: 'STORE', valueFrom: { fieldRef: { fieldPath: "hostValues['store']" } } }];
    const labels = { app: 'till' };
    await fleet.api.request('POST', '/apis/apps/v1/namespaces/default/daemonsets', {
      metadata: { name: 'till' },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: { 'resources.fleet.everynode.dev/main.limits.memory': 'memory' } },
          spec: {
            containers: [{ name: 'main', image: 'till:1', env, resources: { limits: { memory: '1Mi' } } }],
          },
        },
      },
    });
  });

  test('the list shows priority, selector and the number of hosts', async () => {
    const page = await fixture.signedIn('values');
    for (const cells of [
      'kiel 0 site=kiel 1 memory default',
      'defaults -1 all hosts 3 memory, pin default',
      'stores 0 <none> 2 store default',
    ])
      await page.getByRole('row', { name: cells, exact: true }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });

  test('the values of a host name their objects, and a Secret is a reference', async () => {
    const page = await fixture.signedIn('values');
    await page.getByLabel('Host', { exact: true }).fill('node-1');
    const values = page.getByRole('region', { name: 'Values of node-1' });
    const memory = values.getByRole('row', { name: /^memory/ });
    await memory.getByText('128Mi').waitFor();
    await values.getByRole('row', { name: /kiel 64Mi of defaults \(priority -1\)/ }).waitFor();
    await values.getByText('key pin of Secret bank').waitFor();
    assert.ok(!(await page.locator('main').innerText()).includes(PIN));
    await page.waitForURL(/host=node-1/);
    await memory.getByRole('link', { name: 'memory' }).click();
    await page.getByRole('heading', { name: 'Hosts by value of memory' }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });

  test('hosts are found by key and value', async () => {
    const page = await fixture.signedIn('values?key=memory');
    const found = page.getByRole('region', { name: 'Values and hosts' });
    const row = found.getByRole('row', { name: /^64Mi 2 node-2, node-3 defaults/ });
    await row.waitFor();
    await page.getByLabel('Value of this key').fill('128Mi');
    await row.waitFor({ state: 'detached' });
    await found.getByRole('link', { name: 'node-1' }).waitFor();
  });

  test('values are edited as YAML, with checks and differences', async () => {
    const page = await fixture.signedIn('values/default/kiel');
    await page.getByRole('button', { name: 'Edit values' }).click();
    await page.getByText('The manifest is valid.').waitFor();
    const editor = page.getByRole('textbox', { name: 'Manifest as YAML' });
    assert.deepEqual(await violationsOf(page), []);
    await rewrite(editor, (text) => text.replace('128Mi', '[1]'));
    await page
      .getByRole('alert')
      .getByText(/spec\.values/)
      .waitFor();
    assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled());
    await rewrite(editor, (text) => text.replace('[1]', '256Mi'));
    await page.getByRole('region', { name: 'Changes' }).getByText('memory: 256Mi').waitFor();
    await page.getByText('The manifest is valid.').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. Pods that use a changed value are replaced.').waitFor();
    const { spec } = await fleet.api.request<HostValues>('GET', `${VALUES}/kiel`);
    assert.equal(spec.values?.memory, '256Mi');
  });

  test('the history of values shows who changed what, and an earlier version is restored', async () => {
    const put = (store: string) =>
      fleet.api.request('PATCH', `${VALUES}/past`, { spec: { values: { store } } }, MERGE);
    await fleet.api.request('POST', VALUES, { metadata: { name: 'past' }, spec: { values: { store: '1' } } });
    await put('2');
    const page = await fixture.signedIn('values/default/past');
    const history = page.getByRole('region', { name: 'History' });
    const last = history.getByRole('row', { name: /^2 / });
    assert.match(await last.innerText(), /^2\s+everynode-admin\s+values\[store\]\s/);
    await last.getByRole('button', { name: 'Changes of revision 2' }).click();
    const difference = history.getByRole('region', { name: 'Changes from revision 1 to 2' });
    assert.match(await difference.innerText(), /removed:\s+store: "1"[\s\S]*added:\s+store: "2"/);
    assert.deepEqual(await violationsOf(page), []);
    await history.getByRole('button', { name: 'Restore version 1' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('everynode values undo hv/past --to-revision=1 -n default').waitFor();
    // Another user changes the object meanwhile: restoring would undo a change that nobody has seen here.
    await put('3');
    // The dialog hides the page from screen readers.
    const hidden = page.getByRole('region', { name: 'History', includeHidden: true });
    await hidden.getByRole('row', { name: /^3 /, includeHidden: true }).waitFor();
    await dialog.getByRole('button', { name: 'Restore version 1' }).click();
    await dialog.getByRole('alert').getByText('the object has been modified').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await history.getByRole('button', { name: 'Restore version 1' }).click();
    await dialog.getByRole('button', { name: 'Restore version 1' }).click();
    await history.getByRole('row', { name: /^4 / }).waitFor();
    const { spec } = await fleet.api.request<HostValues>('GET', `${VALUES}/past`);
    assert.equal(spec.values?.store, '1');
    await fleet.api.request('DELETE', `${VALUES}/past`);
  });

  test('restoring an override names what it can change on every selected host', async () => {
    const spec = { daemonSetName: 'till', containers: [{ name: 'main', image: 'till:2' }] };
    const nowhere = { matchLabels: { site: 'nowhere' } };
    await fleet.api.request('POST', OVERRIDES, {
      metadata: { name: 'pilot' },
      spec: { ...spec, nodeSelector: nowhere },
    });
    await fleet.api.request('PATCH', `${OVERRIDES}/pilot`, { spec: { priority: 1 } }, MERGE);
    const page = await fixture.signedIn('resources/fleet.everynode.dev/v1/daemonsetoverrides/default/pilot');
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    const dialog = page.getByRole('dialog');
    await dialog
      .getByText('can change image, variables, resources and volumes on every selected host')
      .waitFor();
    await dialog.getByText('everynode values undo dso/pilot --to-revision=1 -n default').waitFor();
    await fleet.api.request('DELETE', `${OVERRIDES}/pilot`);
  });

  test('a DaemonSet lists the values that it uses, and a host page its values', async () => {
    const page = await fixture.signedIn('daemonsets/default/till');
    const used = page.getByRole('region', { name: 'Values', exact: true });
    await used.getByRole('row', { name: 'memory memory limit of main' }).waitFor();
    await used.getByRole('row', { name: 'store variable STORE of main' }).waitFor();
    await page.goto(`${fixture.access.server}/console/hosts/node-2?tab=settings`);
    const values = page.getByRole('region', { name: 'Values of node-2' });
    await values
      .getByRole('row', { name: /^store/ })
      .getByText('4712')
      .waitFor();
  });

  test('the pages fit on a phone, in the dark theme too', async () => {
    const { page } = await fixture.visit(PHONE, 'dark');
    const { server, token } = fixture.access;
    await signIn(page, server, token, 'values');
    for (const [path, heading] of [
      ['values?host=node-1&key=memory', 'Values per host'],
      ['values/default/stores', 'stores'],
      ['values/new', 'New values'],
      ['daemonsets', 'DaemonSets'],
      ['hosts', 'Hosts'],
      ['hosts/node-1?tab=workloads', 'node-1'],
    ] as const) {
      await page.goto(`${server}/console/${path}`);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      if (!path.endsWith('new')) await page.locator('main tbody').first().waitFor();
      assert.deepEqual(await tooWideOf(page), [], path);
      assert.deepEqual(await violationsOf(page), []);
    }
  });

  test('an unknown host, an unknown object and a user without rights get a sentence', async () => {
    const page = await fixture.signedIn('values?host=absent');
    await page.getByText('The values of absent could not be loaded').waitFor();
    await page.goto(`${fixture.access.server}/console/values/default/absent`);
    await page.getByText('There are no HostValues with this name').waitFor();
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await fleet.api.request('POST', accounts, { metadata: { name: 'nobody' } });
    const { status } = await fleet.api.request<{ status: { token: string } }>(
      'POST',
      `${accounts}/nobody/token`,
      { spec: {} },
    );
    const other = await fixture.signedIn('values', { token: status.token });
    await other.getByText('You are not allowed to list HostValues.').waitFor();
  });
}
