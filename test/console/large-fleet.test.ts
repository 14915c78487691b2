/**
 * A thousand simulated hosts in the console in a real browser. Each host runs the agent's code and has its own link.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { until } from '../harness/basics/wait-until.js';
import { accessOf, signIn, startBrowser, visit, whyNoBrowser } from '../harness/console/browser.js';
import { browseLargeFleet } from '../harness/console/large-fleet-steps.js';
import { runCommand } from '../harness/simulated/simulated-actions.js';
import { startSimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 1_000;
const IN_KIEL = 20;
const MERGE = 'application/merge-patch+json';
const LIMIT_MS = 60_000;

test('a fleet page with a thousand hosts adds its counts up, draws few rows, filters, updates, and opens a host', async (context) => {
  const why = whyNoBrowser();
  if (why !== undefined) return leaveOut(context, 'a thousand hosts in a browser', why);
  const fleet = await startSimulatedFleet(NODES);
  const browser = await startBrowser();
  try {
    for (let index = 1; index <= IN_KIEL; index += 1) {
      const body = { metadata: { labels: { site: 'kiel' } } };
      await fleet.api.request('PATCH', `/api/v1/nodes/node-${index}`, body, MERGE);
    }
    const { server, token } = accessOf(fleet.kubeconfig);
    const { page, problems } = await visit(browser);
    page.setDefaultTimeout(LIMIT_MS);
    await signIn(page, server, token, 'hosts?sort=name');
    await page.getByRole('button', { name: `${NODES} Healthy` }).waitFor();
    const map = () => page.evaluate<string>('document.querySelector("canvas").toDataURL()');
    const allWell = await map();
    await runCommand(fleet, 'offline node-7');
    await page.getByRole('button', { name: '1 Offline', exact: true }).waitFor();
    await page.getByRole('button', { name: `${NODES - 1} Healthy` }).waitFor();
    await until(async () => (await map()) !== allWell, { timeoutMs: LIMIT_MS, what: 'its cell to be drawn' });
    const withOneDark = await map();
    await page.reload();
    const isSame = async () => (await map().catch(() => '')) === withOneDark;
    await until(isSame, { timeoutMs: LIMIT_MS, what: 'the redrawn map to be the same' });
    await page.getByRole('button', { name: '1 Offline', exact: true }).click();
    await page.getByRole('link', { name: 'node-7', exact: true }).waitFor();
    await runCommand(fleet, 'online node-7');
    await page.getByRole('button', { name: `${NODES} Healthy` }).waitFor();
    await page.goto(`${server}/console/hosts?sort=name`);
    await browseLargeFleet(page, {
      hosts: NODES,
      selector: 'site=kiel',
      selected: IN_KIEL,
      last: 'node-999',
    });
    assert.deepEqual(problems, []);
  } finally {
    await browser.close();
    await fleet.stop();
  }
});
