/** The pages of Services in the console, in a real browser. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import { applyEverywhere } from '../harness/simulated/simulated-actions.js';
import type { SimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 3;

describeInBrowser('Services in the console', suite);

function suite(): void {
  const fixture = new ConsoleFixture(NODES);
  let fleet: SimulatedFleet;

  before(async () => {
    fleet = fixture.fleet;
    await applyEverywhere(fleet, 'till');
    const till = { selector: { app: 'till' }, clusterIP: 'None', ports: [{ port: 80 }] };
    const alias = { type: 'ExternalName', externalName: 'bank.example.com' };
    for (const [name, spec] of Object.entries({ till, alias }))
      await fleet.api.request('POST', '/api/v1/namespaces/default/services', { metadata: { name }, spec });
  });

  test('the list shows type, address, ports and endpoints, and leads to the page of a Service', async () => {
    const page = await fixture.signedIn('services');
    const row = page.getByRole('row', { name: /till/ });
    await row.getByText('ClusterIP').waitFor();
    assert.match(await row.innerText(), /None\s+80\/TCP\s+\d+\/\d+/);
    const alias = page.getByRole('row', { name: /alias/ });
    assert.match(await alias.innerText(), /ExternalName\s+bank\.example\.com/);
    await row.getByRole('link', { name: 'till' }).click();
    await page.getByRole('heading', { name: 'till' }).waitFor();
  });

  test('the page of a Service shows each Pod with its reason, and the hosts that have it', async () => {
    const page = await fixture.signedIn('services/default/till');
    await page.getByText(/of 3 Pods are ready/).waitFor();
    const endpoints = page.getByRole('region', { name: 'Endpoints' });
    assert.equal(await endpoints.getByRole('row').count(), NODES + 1);
    await page.getByText('Hosts that have it: 0').waitFor();
    await page.getByText('till.default.svc.cluster.local').waitFor();
  });

  test('the palette finds a Service, and g s opens the list', async () => {
    const page = await fixture.signedIn('');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { name: 'Services' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to a page' }).fill('till Service');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'till' }).waitFor();
  });
}
