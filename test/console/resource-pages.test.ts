/** The pages of all kinds in the console, in a real browser. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import { applyEverywhere } from '../harness/simulated/simulated-actions.js';
import type { SimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 2;
const PASSWORD = 'not-for-screens';

describeInBrowser('all kinds in the console', suite);

function suite(): void {
  const fixture = new ConsoleFixture(NODES);
  let fleet: SimulatedFleet;

  before(async () => {
    fleet = fixture.fleet;
    await applyEverywhere(fleet, 'till');
    const till = { selector: { app: 'till' }, ports: [{ port: 80 }] };
    const make = (resource: string, body: object) =>
      fleet.api.request('POST', `/api/v1/namespaces/default/${resource}`, body);
    await make('services', { metadata: { name: 'till' }, spec: till });
    await make('configmaps', { metadata: { name: 'prices' }, data: { bread: '2.40' } });
    await make('secrets', { metadata: { name: 'bank' }, stringData: { password: PASSWORD } });
  });

  test('the kinds of the API are found by name, and lead to the list of their objects', async () => {
    const page = await fixture.signedIn('resources');
    await page.getByRole('searchbox', { name: 'Find a kind' }).fill('configmap');
    await page.getByRole('link', { name: 'ConfigMap' }).click();
    await page.getByRole('heading', { name: 'ConfigMap' }).waitFor();
    const row = page.getByRole('row', { name: /default prices 1 \d+[sm]/ });
    await row.waitFor();
    await page.getByText('kubectl get configmaps -A').waitFor();
    await row.getByRole('link', { name: 'prices' }).click();
    await page.getByText('bread: "2.40"').waitFor();
  });

  test('the list can be limited to a namespace, and shows objects that are created while it is open', async () => {
    const page = await fixture.signedIn('resources/-/v1/configmaps?namespace=default');
    await page.getByRole('row', { name: /prices/ }).waitFor();
    await page.getByText('kubectl get configmaps -n default').waitFor();
    const created = { metadata: { name: 'opening-hours' } };
    await fleet.api.request('POST', '/api/v1/namespaces/default/configmaps', created);
    await page.getByRole('row', { name: /opening-hours/ }).waitFor();
  });

  test('the page of a Secret shows sizes and no values', async () => {
    const page = await fixture.signedIn('resources/-/v1/secrets/default/bank');
    await page.getByText(`password: ${PASSWORD.length} bytes`).waitFor();
    const text = await page.locator('main').innerText();
    assert.ok(!text.includes(Buffer.from(PASSWORD).toString('base64')));
    assert.ok(!text.includes(PASSWORD));
  });

  test('an object with a selector shows its Pods with their hosts', async () => {
    const page = await fixture.signedIn('resources/apps/v1/daemonsets/default/till');
    const pods = page.getByRole('region', { name: 'Selected Pods' });
    await pods
      .getByText('Running')
      .nth(NODES - 1)
      .waitFor();
    assert.equal(await pods.getByRole('row').count(), NODES + 1);
  });

  test('the list of a cluster-scoped kind has no namespace, and a node leads to the page of its host', async () => {
    const page = await fixture.signedIn('resources/-/v1/nodes');
    await page.getByRole('heading', { name: 'Node' }).waitFor();
    assert.equal(await page.getByRole('searchbox', { name: 'Namespace' }).count(), 0);
    await page.getByRole('row').nth(1).getByRole('link').click();
    await page.waitForURL(/\/console\/hosts\//);
  });

  test('an unknown kind and an object that does not exist are said to be so', async () => {
    const kinds = await fixture.signedIn('resources/example.com/v1/toasters');
    await kinds.getByText('The API does not serve this kind.').waitFor();
    const object = await fixture.signedIn('resources/-/v1/configmaps/default/absent');
    await object.getByText('This object does not exist.').waitFor();
  });
}
