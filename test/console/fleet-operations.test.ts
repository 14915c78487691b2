/** Fleet operations in the console in a real browser: join hosts, change many at once, and preview the effect first. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { numberedNodes } from '../../agent/simulate/node-templates.js';
import { SimulatedNodeFleet } from '../../agent/simulate/simulated-node-fleet.js';
import { makeSigningRequest } from '../../coordinator/pki/client-certificates.js';
import type { CertificateSigningRequest } from '../../shared/kube/access/certificate-signing-request.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import { generateKeyPem } from '../../shared/process/files/private-key.js';
import { silentLogger } from '../../shared/process/output/logger.js';
import { until, untilPasses } from '../harness/basics/wait-until.js';
import { PHONE } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import { tokenInLine } from '../harness/hub/join-line.js';
import type { SimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 12;
const LIMITS = { timeoutMs: 60_000 };
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

describeInBrowser('fleet operations in the console', suite);

function suite(): void {
  let fleet: SimulatedFleet;
  let server: string;

  const fixture = new ConsoleFixture(NODES);

  before(async () => {
    fleet = fixture.fleet;
    ({ server } = fixture.access);
    await fleet.api.request('POST', '/apis/apps/v1/namespaces/default/daemonsets', {
      metadata: { name: 'till' },
      spec: {
        selector: { matchLabels: { app: 'till' } },
        template: {
          metadata: { labels: { app: 'till' } },
          spec: { nodeSelector: { site: 'kiel' }, containers: [{ name: 'main', image: 'app:1' }] },
        },
      },
    });
  });
  const node = (name: string) => fleet.api.request<Node>('GET', `/api/v1/nodes/${name}`);
  const choose = async (page: Page, ...names: string[]) => {
    for (const name of names) await page.getByLabel(`Select ${name}`, { exact: true }).check();
  };

  test('a label on selected hosts is previewed, reports a rejected host separately, and can be undone', async () => {
    const page = await fixture.signedIn('hosts?sort=name');
    await choose(page, 'node-1', 'node-2', 'node-3');
    await page.getByText('3 hosts selected').waitFor();
    const refused = JSON.stringify({
      kind: 'Status',
      reason: 'Forbidden',
      message: 'not this one',
      code: 403,
    });
    const isPatch = (request: { method(): string }) => request.method() === 'PATCH';
    await page.route('**/api/v1/nodes/node-2', (route) =>
      isPatch(route.request())
        ? route.fulfill({ status: 403, contentType: 'application/json', body: refused })
        : route.continue(),
    );
    await page.getByLabel('Label for the selected hosts').fill('site=kiel');
    await page.getByRole('button', { name: 'Label…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('3 Pods start (node-1, node-2, node-3)').waitFor();
    await dialog.getByRole('button', { name: 'Label 3 hosts' }).click();
    const progress = page.getByRole('region', { name: 'Progress' });
    await progress.getByText('2 of 3 done, 1 failed.').waitFor();
    await progress.getByText('not this one').waitFor();
    assert.equal((await node('node-3')).metadata.labels?.site, 'kiel');
    assert.equal((await node('node-2')).metadata.labels?.site, undefined);
    await progress.getByRole('button', { name: 'Undo 2' }).click();
    await progress.getByText('Undo: Label: 2 of 2 done.').waitFor();
    assert.equal((await node('node-1')).metadata.labels?.site, undefined);
  });

  test("a host's label and taint changes are previewed before saving, and maintenance empties the host", async () => {
    const page = await fixture.signedIn('hosts/node-4?tab=settings');
    const tab = (name: string) =>
      page.getByRole('navigation', { name: 'Parts of host node-4' }).getByRole('link', { name }).click();
    const card = page.getByRole('region', { name: 'Labels and taints' });
    await card.getByLabel('New label').fill('site=kiel');
    await card.getByRole('button', { name: 'Set label' }).click();
    await card.getByText('1 Pod start').waitFor();
    assert.equal((await node('node-4')).metadata.labels?.site, undefined, 'nothing is written yet');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Preview').waitFor({ state: 'detached' });
    await tab('Workloads');
    const pods = page.getByRole('region', { name: 'Pods' });
    await pods.getByRole('cell', { name: 'Running', exact: true }).waitFor();
    await tab('Settings');
    await card.getByLabel('New taint').fill('repair=yes:NoExecute');
    await card.getByRole('button', { name: 'Set taint' }).click();
    await card.getByText('1 Pod stop').waitFor();
    page.once('dialog', (dialog) => void dialog.dismiss());
    await tab('Workloads');
    await card.getByRole('button', { name: 'Discard' }).click();
    await tab('Workloads');
    await page.getByRole('button', { name: 'Maintenance' }).click();
    await page.getByRole('dialog').getByText('1 Pod stop').waitFor();
    await page.getByRole('button', { name: 'Start maintenance' }).click();
    await pods.getByText('No Pods on this host.').waitFor();
    const { spec } = await node('node-4');
    assert.equal(spec?.unschedulable, true);
    assert.ok(spec?.taints?.some(({ key }) => key === 'fleet.everynode.dev/maintenance'));
    await page.getByRole('button', { name: 'End maintenance' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End maintenance' }).click();
    await pods.getByRole('cell', { name: 'Running', exact: true }).waitFor();
  });

  test('a host is drained of all Pods without a DaemonSet and removed, and its key is barred', async () => {
    await fleet.api.request('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'alone' },
      spec: { nodeName: 'node-5', containers: [{ name: 'main', image: 'app:1' }] },
    });
    const page = await fixture.signedIn('hosts/node-5?tab=workloads');
    await page.getByRole('link', { name: 'alone', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('dialog').getByText('1 Pod is evicted').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await page.getByText('Drained: only').waitFor();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('heading', { name: 'Hosts' }).waitFor();
    await until(async () => (await fleet.api.send('GET', '/api/v1/nodes/node-5')).code === 404, {
      ...LIMITS,
      what: 'the Node to be gone',
    });
    const secret = await fleet.api.request<{ data: Record<string, string> }>(
      'GET',
      '/api/v1/namespaces/kube-system/secrets/node-credential-node-5',
    );
    assert.deepEqual(Object.keys(secret.data), ['revoked']);
  });

  test('a join command adds a host live, and waiting hosts are approved in bulk', async () => {
    const page = await fixture.signedIn('onboarding', { viewport: PHONE });
    await page.getByText('0 joined since').waitFor();
    await page.getByLabel('Labels for new hosts').fill('site=bonn');
    await page.getByLabel('Allowed names').fill('guest-*');
    await page.getByRole('button', { name: 'Create join command' }).click();
    const line = await page.locator('code', { hasText: 'everynode-agent --server' }).textContent();
    const text = tokenInLine(line ?? '');
    const guests = new SimulatedNodeFleet({
      ...{ server, token: text, templates: numberedNodes('guest', 1), speed: 1, firstIndex: 100 },
      log: silentLogger,
    });
    try {
      await guests.start();
      await page.getByText('1 joined since').waitFor();
      await page.getByRole('link', { name: 'guest-1', exact: true }).waitFor();
      assert.equal((await node('guest-1')).metadata.labels?.site, 'bonn');
      await page.getByRole('cell', { name: 'used up' }).waitFor();
    } finally {
      await guests.stop();
    }
    for (const name of ['shelf-1', 'shelf-2']) await fileRequest(fleet, name);
    await page.getByRole('button', { name: 'Select all 2' }).click();
    await page.getByRole('button', { name: 'Approve 2' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve 2 hosts' }).click();
    await untilDecided(fleet, 'Approved', 2);
    await page.getByRole('region', { name: 'Hosts waiting for approval' }).waitFor({ state: 'detached' });
  });

  test('selected hosts are revoked together, and a waiting host is denied', async () => {
    const page = await fixture.signedIn('hosts?sort=name');
    await choose(page, 'node-11', 'node-12');
    await page.getByRole('button', { name: 'Revoke…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke: 2 hosts?' });
    await dialog.getByText('This cannot be undone.').waitFor();
    await dialog.getByRole('button', { name: 'Revoke 2 hosts' }).click();
    await page.getByText('Revoke: 2 of 2 done.').waitFor();
    assert.equal(await page.getByRole('button', { name: /^Undo/ }).count(), 0);
    for (const name of ['node-11', 'node-12'])
      await page.getByRole('row', { name: `Select ${name} ${name} Offline` }).waitFor();
    await fileRequest(fleet, 'stranger');
    await page.goto(`${server}/console/onboarding`);
    await page.getByRole('checkbox', { name: 'stranger' }).check();
    await page.getByRole('button', { name: 'Deny 1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Deny 1 host' }).click();
    await untilDecided(fleet, 'Denied', 1);
    await page.getByRole('region', { name: 'Hosts waiting for approval' }).waitFor({ state: 'detached' });
  });
}

/** The region of waiting hosts says nothing about the decision: a modal dialog hides it before the request is sent. */
async function untilDecided({ api }: SimulatedFleet, decision: string, count: number): Promise<void> {
  await untilPasses(async () => {
    const { items } = await api.items<CertificateSigningRequest>(REQUESTS);
    assert.equal(items.filter(({ status }) => status?.conditions?.[0]?.type === decision).length, count);
  });
}

/** Files a join request like a host that has to wait for approval. */
async function fileRequest({ api }: SimulatedFleet, name: string): Promise<void> {
  const subject = { commonName: `system:node:${name}`, organizations: ['system:nodes'] };
  const csr = await makeSigningRequest(await generateKeyPem(), subject);
  await api.request('POST', REQUESTS, {
    metadata: { name },
    spec: {
      request: Buffer.from(csr).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    },
  });
}
