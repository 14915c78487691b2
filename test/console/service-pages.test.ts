/** The pages of Services in the console, in a real browser. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { until } from '../harness/basics/wait-until.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import { applyEverywhere, numberReady } from '../harness/simulated/simulated-actions.js';
import type { SimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 3;

describeInBrowser('Services in the console', suite);

function suite(): void {
  const fixture = new ConsoleFixture(NODES);
  let fleet: SimulatedFleet;

  before(async () => {
    fleet = fixture.fleet;
    await applyEverywhere(fleet, 'till');
    await until(async () => (await numberReady(fleet, 'till')) === NODES, {
      timeoutMs: 60_000,
      what: 'all Pods ready',
    });
    const till = { selector: { app: 'till' }, clusterIP: 'None', ports: [{ port: 80 }] };
    const alias = { type: 'ExternalName', externalName: 'bank.example.com' };
    for (const [name, spec] of Object.entries({ till, alias }))
      await fleet.api.request('POST', '/api/v1/namespaces/default/services', { metadata: { name }, spec });
  });

  test('the list shows type, address, ports and endpoints, and leads to the page of a Service', async () => {
    const page = await fixture.signedIn('services');
    const row = page.getByRole('row', { name: /till/ });
    await page.getByRole('row', { name: /till .*ClusterIP None 80\/TCP 3\/3/ }).waitFor();
    await page.getByRole('row', { name: /alias .*ExternalName bank\.example\.com/ }).waitFor();
    await row.getByRole('link', { name: 'till' }).click();
    await page.getByRole('heading', { name: 'till' }).waitFor();
  });

  test('the page of a Service shows each Pod with its reason, and the hosts that have it', async () => {
    const page = await fixture.signedIn('services/default/till');
    await page.getByText(/^3 of 3 Pods are ready/).waitFor();
    const rows = page.getByRole('region', { name: 'Endpoints' }).getByRole('row');
    await rows.nth(NODES).waitFor();
    assert.equal(await rows.count(), NODES + 1);
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
    // Services are loaded when the palette opens. An Enter before that chooses nothing.
    await page.getByRole('option', { name: 'default/till Service' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'till' }).waitFor();
  });
}
