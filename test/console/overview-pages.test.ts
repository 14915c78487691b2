/** The start page of the console in a real browser: what needs an operator, also on a phone and with few rights. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../harness/basics/wait-until.js';
import { PHONE, signIn, violationsOf } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import { applyEverywhere, numberReady, runCommand } from '../harness/simulated/simulated-actions.js';
import type { SimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 8;
const LIMITS = { timeoutMs: 60_000 };
const MERGE = 'application/merge-patch+json';
const POLICIES = '/apis/fleet.everynode.dev/v1/namespaces/default/rolloutpolicies';
const DAEMON_SET = '/apis/apps/v1/namespaces/default/daemonsets/till';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

describeInBrowser('the start page of the console', suite);

function suite(): void {
  const fixture = new ConsoleFixture(NODES);
  let fleet: SimulatedFleet;

  before(async () => {
    fleet = fixture.fleet;
    for (let index = 1; index <= NODES; index += 1) {
      // The label of one host each names no site, although the hosts of one region have several values of it.
      const labels = { region: index > 5 ? 'rostock' : 'kiel', store: `store-${index}` };
      await fleet.api.request('PATCH', `/api/v1/nodes/node-${index}`, { metadata: { labels } }, MERGE);
    }
    await fleet.api.request('POST', POLICIES, {
      metadata: { name: 'gentle' },
      spec: { selector: {}, waves: [{ name: 'canary', nodes: 2, approval: 'Manual' }] },
    });
    await applyEverywhere(fleet, 'till');
    await until(async () => (await numberReady(fleet, 'till')) === NODES, { ...LIMITS, what: 'all Pods' });
  });

  test('a healthy fleet is one sentence, and an offline site is one item', async () => {
    const page = await fixture.signedIn();
    const state = page.getByRole('region', { name: 'State of the fleet' });
    await state.getByText(`All ${NODES} hosts are healthy.`).waitFor();
    await page.getByText('Nothing needs you.').waitFor();
    const hosts = ['node-6', 'node-7', 'node-8'];
    await runCommand(fleet, `offline ${hosts}`);
    await state.getByText('3 hosts are offline (rostock: 3 of 3).').waitFor();
    await titled(page, '(1) Overview – Everynode');
    await page.getByRole('link', { name: 'Site rostock is offline' }).click();
    await page.getByText('3 hosts', { exact: true }).waitFor();
    for (const name of hosts) await page.getByRole('link', { name, exact: true }).waitFor();
    await page.goBack({ waitUntil: 'commit' });
    const sites = page.getByRole('region', { name: 'Sites', exact: true });
    await sites.getByRole('row', { name: /rostock 3 offline 0\/3/ }).waitFor();
    await runCommand(fleet, `online ${hosts}`);
    await state.getByText(`All ${NODES} hosts are healthy.`).waitFor();
  });

  test('a stylesheet whose download fails is loaded again before the page is shown', async () => {
    const { page } = await fixture.visit();
    let failures = 2;
    await page.route('**/*.css', async (route) => {
      failures -= 1;
      await (failures < 0 ? route.continue() : route.abort());
    });
    await signIn(page, fixture.access.server, fixture.access.token);
    assert.equal(failures, -1, 'the stylesheet is requested until it is there, and not once more');
    // Without styles a desktop also shows the bar of phones.
    assert.equal(await page.getByRole('button', { name: 'More', exact: true }).count(), 0);
  });

  test('on another page a new problem is counted in the title, and reported once with a link', async () => {
    const page = await fixture.signedIn('services');
    const notices = page.getByRole('status', { name: 'Notices' });
    // What is there before the lists are loaded is no new problem.
    await page.locator('[aria-label="Notices"][aria-busy="false"]').waitFor({ state: 'attached' });
    await titled(page, 'Services – Everynode');
    const hosts = 'node-6,node-7,node-8';
    await runCommand(fleet, `offline ${hosts}`);
    await notices.getByRole('link', { name: 'Site rostock is offline' }).waitFor();
    await titled(page, '(1) Services – Everynode');
    assert.deepEqual(await violationsOf(page), []);
    await notices.getByRole('button', { name: 'Dismiss: Site rostock is offline' }).click();
    await page.getByRole('link', { name: 'DaemonSets' }).first().click();
    await titled(page, '(1) DaemonSets – Everynode');
    assert.equal(await notices.getByRole('link').count(), 0, 'the same problem is reported once');
    await runCommand(fleet, `online ${hosts}`);
    await titled(page, 'DaemonSets – Everynode');
    await page.getByText('Settings', { exact: true }).first().click();
    await page.getByRole('checkbox', { name: 'Notices of new problems' }).uncheck();
    await runCommand(fleet, 'offline node-1,node-2,node-3');
    await titled(page, '(1) DaemonSets – Everynode');
    assert.equal(await notices.getByRole('link').count(), 0, 'notices are switched off');
    await runCommand(fleet, 'online node-1,node-2,node-3');
    await titled(page, 'DaemonSets – Everynode');
  });

  test('a rollout that waits is approved on the start page of a phone, where nothing is outside the screen', async () => {
    await fleet.api.request(
      'PATCH',
      DAEMON_SET,
      { spec: { template: { spec: { containers: [{ name: 'main', image: 'app:2' }] } } } },
      MERGE,
    );
    const page = await fixture.signedIn('', { viewport: PHONE });
    const inbox = page.getByRole('region', { name: 'Inbox' });
    await inbox.getByRole('link', { name: 'Rollout of till: waiting for approval' }).waitFor();
    await page.getByRole('region', { name: 'Active rollouts' }).getByText('app:1 → app:2').waitFor();
    assert.deepEqual(await outsideOf(page), []);
    assert.deepEqual(await outsideOf(page, 'm'.repeat(63)), [], 'a long name without hyphens wraps');
    assert.deepEqual(await violationsOf(page), []);
    const other = await fixture.signedIn();
    await other
      .getByRole('region', { name: 'Inbox' })
      .getByRole('button', { name: /^Approve/ })
      .click();
    const typed = other.getByRole('dialog').getByRole('textbox');
    await typed.fill('the canary is fine');
    // The pointer leaves the list, which the dialog covers.
    await typed.hover();
    await inbox.getByRole('button', { name: /^Approve/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve/ })
      .click();
    await page.getByText('Nothing needs you.').waitFor();
    // The rollout is over, and its row remains while the user answers its dialog.
    await other.getByText('No rollout is in progress.').waitFor();
    assert.equal(await typed.inputValue(), 'the canary is fine');
    await other.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await other.mouse.move(0, 0);
    await other.getByText('Nothing needs you.').waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('dialog', { name: 'More' }).getByRole('link', { name: 'Schedule' }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole('dialog', { name: 'More' }).getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('dialog', { name: 'More' }).waitFor();
    await page.goBack();
    await page.getByRole('dialog', { name: 'More' }).waitFor({ state: 'detached' });
    await page.goForward();
    await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor();
    assert.equal(await page.getByRole('dialog', { name: 'More' }).count(), 0);
    await page.getByRole('link', { name: 'Workloads' }).click();
    await page.getByRole('navigation', { name: 'Workloads' }).getByRole('link', { name: 'Rollouts' }).click();
    await page.getByRole('heading', { level: 1, name: 'Rollouts' }).waitFor();
    for (const path of [
      '',
      'hosts',
      'daemonsets',
      'rollouts',
      'services',
      'calendar',
      'audit',
      'onboarding',
    ]) {
      await page.goto(`${fixture.access.server}/console/${path}`);
      await page.getByText('Loading').first().waitFor({ state: 'detached' });
      assert.deepEqual(await outsideOf(page), [], path);
    }
  });

  test('the palette opens the confirmation of an action that is typed', async () => {
    const page = await fixture.signedIn('hosts');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to a page' }).fill('cordon node-3');
    await page.keyboard.press('Enter');
    await page
      .getByRole('dialog', { name: 'Cordon node-3?' })
      .getByRole('button', { name: 'Cordon' })
      .click();
    await page.getByRole('button', { name: 'Uncordon' }).waitFor();
    // A reload does not ask again.
    await page.waitForURL((url) => !url.searchParams.has('act'));
  });

  test('the palette drains a host only when its Pods are known', async () => {
    await fleet.api.request('POST', '/api/v1/namespaces/default/pods', {
      metadata: { name: 'alone' },
      spec: { nodeName: 'node-4', containers: [{ name: 'main', image: 'app:1' }] },
    });
    const { page } = await fixture.visit();
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.routeWebSocket(/\/api\/v1\/pods\?fieldSelector=spec.nodeName/, async (socket) => {
      await released;
      socket.connectToServer();
    });
    await signIn(page, fixture.access.server, fixture.access.token, 'hosts');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to a page' }).fill('drain node-4');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Cordon' }).waitFor();
    const dialog = page.getByRole('dialog', { name: 'Drain node-4?' });
    assert.equal(await dialog.count(), 0, 'a drain of unknown Pods evicts nothing');
    release();
    await dialog.getByText('1 Pod is evicted').waitFor();
    await dialog.getByRole('button', { name: 'Drain' }).click();
    await page.getByText('Drained: only').waitFor();
    await page.getByRole('button', { name: 'Uncordon' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Uncordon' }).click();
    await page.getByRole('button', { name: 'Cordon', exact: true }).waitFor();
  });

  test('the palette says that an action is not possible now, and does not open it later', async () => {
    const page = await fixture.signedIn('hosts');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to a page' }).fill('resume till');
    // Rollouts are loaded when the palette opens. An Enter before that chooses nothing.
    await page.getByRole('option', { name: 'Resume default/till… rollout' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('“resume” is not possible now').waitFor();
    await page.waitForURL((url) => !url.searchParams.has('act'));
    const rollout = { metadata: { annotations: { 'fleet.everynode.dev/freeze': 'true' } } };
    const path = '/apis/fleet.everynode.dev/v1/namespaces/default/rollouts/till';
    await fleet.api.request('PATCH', path, rollout, MERGE);
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    assert.equal(await page.getByRole('dialog', { name: 'Resume?' }).count(), 0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Resume' }).waitFor({ state: 'detached' });
  });

  test('a user of one namespace sees its workloads, and reads in words what is not shown', async () => {
    const token = await readerOf('shop', fleet);
    const page = await fixture.signedIn('daemonsets', { token });
    await page.getByRole('link', { name: 'radio', exact: true }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'till', exact: true }).count(), 0);
    assert.equal(await page.getByRole('combobox', { name: 'Namespace' }).inputValue(), 'shop');
    await page.getByText('Other namespace').click();
    await page.getByLabel('Name of a namespace').fill('kube-system');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('You are not allowed to read namespace kube-system.').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page
      .getByText('0 of 1 DaemonSet in namespace shop')
      .or(page.getByText('1 of 1 DaemonSet in namespace shop'))
      .waitFor();
    for (const [path, text] of [
      ['hosts', 'You are not allowed to list hosts.'],
      ['calendar', 'You are not allowed to list policies in namespace shop.'],
      ['audit', 'You are not allowed to list auditevents.'],
      ['daemonsets/default/till', 'You are not allowed to watch daemonsets in namespace default.'],
    ] as const) {
      await page.goto(`${fixture.access.server}/console/${path}`);
      await page.getByText(text).first().waitFor();
      assert.equal(await page.getByText('cannot').count(), 0, `${path} shows the text of RBAC`);
      assert.deepEqual(await violationsOf(page), []);
    }
  });
}

/**
 * Returns the links and buttons that are outside the screen, and whose container does not scroll. With a name, all texts
 * have it in place of `till` while they are measured.
 */
function outsideOf(page: Page, name = 'till'): Promise<string[]> {
  return page.evaluate(`(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push([walker.currentNode, walker.currentNode.nodeValue]);
    for (const [node, text] of texts) if (/till/.test(text)) node.nodeValue = text.replace(/till/g, '${name}');
    const outside = [...document.querySelectorAll('a, button, select, input')].filter((element) => {
      const { left, right, width } = element.getBoundingClientRect();
      const scrolls = element.closest('section[tabindex="0"]') !== null;
      const isSkip = element.getAttribute('href') === '#main';
      return width > 0 && !scrolls && !isSkip && (left < 0 || right > innerWidth);
    }).map((element) => element.outerHTML);
    if (document.documentElement.scrollWidth > innerWidth) outside.push('the page scrolls sideways');
    for (const [node, text] of texts) if (node.nodeValue !== text) node.nodeValue = text;
    return outside;
  })()`) as Promise<string[]>;
}

/** Makes a namespace with a DaemonSet, and an account that may only read the namespace's DaemonSets. */
async function readerOf(namespace: string, { api }: SimulatedFleet): Promise<string> {
  await api.request('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  const labels = { app: 'radio' };
  await api.request('POST', `/apis/apps/v1/namespaces/${namespace}/daemonsets`, {
    metadata: { name: 'radio' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'radio:1' }] } },
    },
  });
  await api.request('POST', `${RBAC}/namespaces/${namespace}/roles`, {
    metadata: { name: 'reader' },
    rules: [{ apiGroups: ['apps'], resources: ['daemonsets'], verbs: ['get', 'list', 'watch'] }],
  });
  await api.request('POST', `${RBAC}/namespaces/${namespace}/rolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }],
  });
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await api.request('POST', accounts, { metadata: { name: 'reader' } });
  const made = await api.request<{ status: { token: string } }>('POST', `${accounts}/reader/token`, {
    spec: {},
  });
  return made.status.token;
}

/** Waits for the title of the tab. */
function titled(page: Page, title: string): Promise<unknown> {
  return until(async () => (await page.title()) === title, { ...LIMITS, what: title });
}
