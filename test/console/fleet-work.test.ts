/** What people do with a fleet in the console, in a real browser: bring hosts in, change many, look ahead, and only what they may. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { Fleet } from '../../agent/simulate/fleet.js';
import { numberedNodes } from '../../agent/simulate/node-plans.js';
import { makeSigningRequest } from '../../coordinator/pki/client-certificates.js';
import type { CertificateSigningRequest } from '../../shared/kube/certificate-signing-request.js';
import type { Node } from '../../shared/kube/node.js';
import { silentLogger } from '../../shared/process/log.js';
import { newKey } from '../../shared/process/private-key.js';
import { accessOf, DESK, PHONE, signIn } from '../harness/browser.js';
import { ConsoleBench, describeInBrowser } from '../harness/console-bench.js';
import { type SimulatedFleet, startSimulatedFleet } from '../harness/simulated-fleet.js';
import { until } from '../harness/until.js';

const NODES = 12;
const LIMITS = { timeoutMs: 60_000 };
const MERGE = 'application/merge-patch+json';
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

describeInBrowser('work with a fleet', suite);

function suite(): void {
  let fleet: SimulatedFleet;
  let server: string;
  let token: string;

  const bench = new ConsoleBench(NODES);

  before(async () => {
    fleet = bench.fleet;
    ({ server, token } = bench.access);
    await fleet.api.ask('POST', '/apis/apps/v1/namespaces/default/daemonsets', {
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
  const open = async (viewport = DESK, options: BrowserContextOptions = {}) => {
    const { page } = await bench.visit(viewport, 'light', options);
    page.setDefaultTimeout(LIMITS.timeoutMs);
    return page;
  };
  const node = (name: string) => fleet.api.ask<Node>('GET', `/api/v1/nodes/${name}`);
  const choose = async (page: Page, ...names: string[]) => {
    for (const name of names) await page.getByLabel(`Choose ${name}`, { exact: true }).check();
  };

  test('chosen hosts get a label together: its effect is told, one that is refused stays by itself, and it is undone', async () => {
    const page = await open();
    await signIn(page, server, token, '?sort=name');
    await choose(page, 'node-1', 'node-2', 'node-3');
    await page.getByText('3 hosts chosen').waitFor();
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
    await page.getByLabel('Label for the chosen hosts').fill('site=kiel');
    await page.getByRole('button', { name: 'Label…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('3 Pods come (node-1, node-2, node-3)').waitFor();
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

  test('a host: what a label brings and a taint drives out is told before it is saved; maintenance empties it', async () => {
    const page = await open();
    await signIn(page, server, token, 'hosts/node-4');
    const card = page.getByRole('region', { name: 'Labels and taints' });
    await card.getByLabel('New label').fill('site=kiel');
    await card.getByRole('button', { name: 'Set label' }).click();
    await card.getByText('1 Pod come').waitFor();
    assert.equal((await node('node-4')).metadata.labels?.site, undefined, 'nothing is written yet');
    await card.getByRole('button', { name: 'Save' }).click();
    const pods = page.getByRole('region', { name: 'Pods' });
    await pods.getByRole('cell', { name: 'Running', exact: true }).waitFor();
    await card.getByLabel('New taint').fill('repair=yes:NoExecute');
    await card.getByRole('button', { name: 'Set taint' }).click();
    await card.getByText('1 Pod go').waitFor();
    await card.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'Maintenance' }).click();
    await page.getByRole('dialog').getByText('1 Pod go').waitFor();
    await page.getByRole('button', { name: 'Begin maintenance' }).click();
    await pods.getByText('None are bound to this host.').waitFor();
    const { spec } = await node('node-4');
    assert.equal(spec?.unschedulable, true);
    assert.ok(spec?.taints?.some(({ key }) => key === 'fleet.everynode.dev/maintenance'));
    await page.getByRole('button', { name: 'End maintenance' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End maintenance' }).click();
    await pods.getByRole('cell', { name: 'Running', exact: true }).waitFor();
  });

  test('a host is drained of what is no DaemonSet’s, and removed: its key is barred', async () => {
    await fleet.api.ask('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'alone' },
      spec: { nodeName: 'node-5', containers: [{ name: 'main', image: 'app:1' }] },
    });
    const page = await open();
    await signIn(page, server, token, 'hosts/node-5');
    await page.getByRole('link', { name: 'alone', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('dialog').getByText('1 Pod is evicted').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await page.getByText('Drained: nothing is left').waitFor();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('heading', { name: 'Fleet' }).waitFor();
    await until(async () => (await fleet.api.send('GET', '/api/v1/nodes/node-5')).code === 404, {
      ...LIMITS,
      what: 'the Node to be gone',
    });
    const secret = await fleet.api.ask<{ data: Record<string, string> }>(
      'GET',
      '/api/v1/namespaces/kube-system/secrets/node-credential-node-5',
    );
    assert.deepEqual(Object.keys(secret.data), ['revoked']);
  });

  test('a join line joins a host, which shows as it joins; the waiting room lets hosts in, many at once', async () => {
    const page = await open(PHONE);
    await signIn(page, server, token, 'onboarding');
    await page.getByText('0 joined since').waitFor();
    await page.getByLabel('Labels of its hosts').fill('site=bonn');
    await page.getByLabel('Names that may join').fill('guest-*');
    await page.getByRole('button', { name: 'Make join line' }).click();
    const line = await page.locator('code', { hasText: 'everynode-agent --server' }).textContent();
    const [, text = ''] = /--token (\S+)/.exec(line ?? '') ?? [];
    const guests = new Fleet({
      ...{ server, token: text, plans: numberedNodes('guest', 1), speed: 1, firstIndex: 100 },
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
    await page.getByRole('button', { name: 'Choose all 2' }).click();
    await page.getByRole('button', { name: 'Approve 2' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve 2 hosts' }).click();
    await page.getByRole('region', { name: 'Hosts that wait' }).waitFor({ state: 'detached' });
    const { items } = await fleet.api.items<CertificateSigningRequest>(REQUESTS);
    assert.equal(items.filter(({ status }) => status?.conditions?.[0]?.type === 'Approved').length, 2);
  });

  test('chosen hosts are revoked together, and one who waits is denied', async () => {
    const page = await open();
    await signIn(page, server, token, '?sort=name');
    await choose(page, 'node-11', 'node-12');
    await page.getByRole('button', { name: 'Revoke…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke: 2 hosts?' });
    await dialog.getByText('This cannot be undone.').waitFor();
    await dialog.getByRole('button', { name: 'Revoke 2 hosts' }).click();
    await page.getByText('Revoke: 2 of 2 done.').waitFor();
    assert.equal(await page.getByRole('button', { name: /^Undo/ }).count(), 0);
    for (const name of ['node-11', 'node-12'])
      await page.getByRole('row', { name: `Choose ${name} ${name} Dark` }).waitFor();
    await fileRequest(fleet, 'stranger');
    await page.goto(`${server}/console/onboarding`);
    await page.getByRole('checkbox', { name: 'stranger' }).check();
    await page.getByRole('button', { name: 'Deny 1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Deny 1 host' }).click();
    await page.getByRole('region', { name: 'Hosts that wait' }).waitFor({ state: 'detached' });
    const { status } = await fleet.api.ask<CertificateSigningRequest>('GET', `${REQUESTS}/stranger`);
    assert.equal(status?.conditions?.[0]?.type, 'Denied');
  });

  test('a host’s times are told on its own clocks to whom asks for them', async () => {
    const labels = { tz: 'Asia.Tokyo', rack: 'A.1' };
    await fleet.api.ask('PATCH', '/api/v1/nodes/node-9', { metadata: { labels } }, MERGE);
    const page = await open(DESK, { timezoneId: 'America/New_York', locale: 'en-GB' });
    await signIn(page, server, token, 'hosts/node-9');
    await page.getByText('there (Asia/Tokyo)').waitFor();
    const since = page.getByRole('region', { name: 'Link' }).locator('time').first();
    assert.match((await since.getAttribute('title')) ?? '', /GMT-[45]; there .* GMT\+9$/);
    await page.getByLabel('Tell times on the host’s clocks').check();
    await page.waitForURL(/times=host/);
    await page
      .getByRole('region', { name: 'Link' })
      .getByText(/\d\d:\d\d:\d\d GMT\+9/)
      .first()
      .waitFor();
    await page
      .getByRole('region', { name: 'Events' })
      .getByText(/GMT\+9$/)
      .first()
      .waitFor();
  });

  test('who may only look is offered nothing else; who may nothing sees nothing', async () => {
    const rules = [
      { apiGroups: [''], resources: ['nodes', 'pods', 'events'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['fleet.everynode.dev'], resources: ['hosts'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps'], resources: ['daemonsets'], verbs: ['get', 'list', 'watch'] },
    ];
    await fleet.api.ask('POST', `${RBAC}/clusterroles`, { metadata: { name: 'looker' }, rules });
    await fleet.api.ask('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name: 'looker' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'looker' },
      subjects: [{ kind: 'ServiceAccount', name: 'looker', namespace: 'default' }],
    });
    const looker = await accountToken(fleet, 'looker');
    const page = await open();
    const reviews = reviewsOf(page);
    await signIn(page, server, looker);
    await page.getByRole('link', { name: 'node-1', exact: true }).waitFor();
    // Whether it may change Nodes, and bar keys.
    await reviews.answered(2);
    assert.equal(await page.getByRole('checkbox', { name: /^Choose/ }).count(), 0);
    await page.goto(`${server}/console/hosts/node-1`);
    await page.getByText('site=').or(page.getByText('kubernetes.io/hostname=node-1')).first().waitFor();
    // Beside those, whether it may delete the Node, and evict.
    await reviews.answered(2 + 4);
    for (const name of ['Cordon', 'Drain', 'Maintenance', 'Remove', 'Set label', 'Set taint']) {
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name);
    }
    const areRules = (response: { url(): string }) => response.url().includes('selfsubjectrulesreviews');
    const answered = page.waitForResponse(areRules);
    await page.goto(`${server}/console/daemonsets`);
    await answered;
    await page.getByRole('link', { name: 'till', exact: true }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Create a DaemonSet' }).count(), 0);
    await page.goto(`${server}/console/onboarding`);
    await page.getByText('You may not make join lines').waitFor();
    assert.equal(await page.getByRole('region', { name: 'Tokens' }).count(), 0);
    await page.goto(`${server}/console/calendar`);
    await page.getByText('You may not see policies').waitFor();
    const admin = await open();
    await signIn(admin, server, token, 'daemonsets');
    await admin.getByRole('link', { name: 'Create a DaemonSet' }).waitFor();
    const nobody = await accountToken(fleet, 'nobody-at-all');
    const other = await open();
    await signIn(other, server, nobody, 'hosts/node-1');
    await other.getByText('You may not see this host').waitFor();
    assert.equal(await other.getByText('kubernetes.io/hostname').count(), 0);
  });

  test('the calendar tells windows by the hosts’ zones, and freezes', async () => {
    for (const [name, tz] of [
      ['node-1', 'Europe.Berlin'],
      ['node-2', 'America.New_York'],
    ] as const) {
      await fleet.api.ask('PATCH', `/api/v1/nodes/${name}`, { metadata: { labels: { tz } } }, MERGE);
    }
    await fleet.api.ask('POST', '/apis/fleet.everynode.dev/v1/namespaces/default/rolloutpolicies', {
      metadata: { name: 'at-night' },
      spec: {
        selector: { matchLabels: { when: 'at-night' } },
        windows: [{ schedule: '0 3 * * *', durationSeconds: 7200, timeZoneLabel: 'tz' }],
        freezes: [{ from: '2020-01-01', to: '2090-01-01', reason: 'for ever' }],
      },
    });
    const page = await open();
    await signIn(page, server, token, 'calendar');
    await page.getByRole('heading', { name: 'Europe/Berlin, UTC · 1 host' }).waitFor();
    await page.getByRole('heading', { name: 'America/New_York, UTC · 1 host' }).waitFor();
    await page.getByText('Now: frozen: nothing is replaced (a freeze period lasts until').first().waitFor();
  });

  test('by keyboard alone: the palette, single keys, and the sheet that lists them', async () => {
    const page = await open();
    await signIn(page, server, token);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to a page' }).fill('till');
    await page.getByRole('option', { name: 'default/till DaemonSet' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'till' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { level: 1, name: 'Calendar' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await page.getByRole('heading', { level: 1, name: 'Fleet' }).waitFor();
    await page.getByRole('searchbox', { name: 'Filter' }).waitFor();
    await page.keyboard.press('/');
    await page.locator('input[type=search]:focus').waitFor();
    await page.keyboard.type('node-1');
    await page.waitForURL(/filter=node-1/);
  });

  test('columns, order and views stand in the URL; rows that are pointed at keep their places', async () => {
    const page = await open();
    await signIn(page, server, token, '?sort=-name&columns=name,version,label:site');
    await page.getByRole('columnheader', { name: 'site' }).waitFor();
    const first = page.getByRole('row').nth(1).getByRole('link');
    assert.equal(await first.textContent(), 'node-9');
    await page.getByText('Views', { exact: true }).click();
    await page.getByLabel('Name of this view').fill('by site');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.goto(`${server}/console/`);
    await page.getByText('Views', { exact: true }).click();
    await page.getByRole('button', { name: 'by site', exact: true }).click();
    await page.waitForURL(/label/);
    await page.getByRole('columnheader', { name: 'site' }).getByRole('button').click();
    await page.locator('th[aria-sort=ascending]', { hasText: 'site' }).waitFor();
    await page.mouse.move(0, 0);
    const rows = page.getByRole('region', { name: 'Hosts', exact: true });
    await rows.getByRole('row').nth(2).hover();
    const before = (await page.getByRole('row').nth(1).getByRole('link').textContent()) ?? '';
    await fleet.api.ask(
      'PATCH',
      `/api/v1/nodes/${before}`,
      { metadata: { labels: { site: 'zwickau' } } },
      MERGE,
    );
    await page.getByRole('cell', { name: 'zwickau' }).waitFor();
    assert.equal(
      await page.getByRole('row').nth(1).getByRole('link').textContent(),
      before,
      'it stays under the cursor',
    );
    await page.mouse.move(0, 0);
    await until(async () => (await page.getByRole('row').nth(1).getByRole('link').textContent()) !== before, {
      ...LIMITS,
      what: 'the row to find its place',
    });
  });

  test('a fleet without hosts says how to get some', async () => {
    const empty = await startSimulatedFleet(0);
    try {
      const access = accessOf(empty.kubeconfig);
      const page = await open();
      await signIn(page, access.server, access.token);
      await page.getByRole('heading', { name: 'No hosts yet' }).waitFor();
      await page.getByRole('link', { name: 'Make a join line' }).click();
      await page.getByRole('button', { name: 'Make join line' }).waitFor();
    } finally {
      await empty.stop();
    }
  });
}

/** Counts what the page asks for its rights. */
function reviewsOf(page: Page) {
  let [asked, open] = [0, 0];
  const isReview = (request: { url(): string }) => /selfsubject(access|rules)reviews$/.test(request.url());
  page.on('request', (request) => {
    if (!isReview(request)) return;
    asked += 1;
    open += 1;
  });
  for (const ending of ['requestfinished', 'requestfailed'] as const) {
    page.on(ending as 'requestfinished', (request) => {
      if (isReview(request)) open -= 1;
    });
  }
  /** Resolves when at least so many have been asked since the beginning, all are answered, and the page shows what follows. */
  const answered = async (atLeast: number) => {
    await until(async () => asked >= atLeast && open === 0, { ...LIMITS, what: `${atLeast} rights` });
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  };
  return { answered };
}

async function accountToken({ api }: SimulatedFleet, name: string): Promise<string> {
  await api.ask('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name } });
  const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
  return (await api.ask<{ status: { token: string } }>('POST', path, { spec: {} })).status.token;
}

/** As a host files it that has to wait. */
async function fileRequest({ api }: SimulatedFleet, name: string): Promise<void> {
  const subject = { commonName: `system:node:${name}`, organizations: ['system:nodes'] };
  const csr = await makeSigningRequest(await newKey(), subject);
  await api.ask('POST', REQUESTS, {
    metadata: { name },
    spec: {
      request: Buffer.from(csr).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    },
  });
}
