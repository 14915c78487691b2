/** The web console in a real browser, against a real coordinator and a hollow fleet. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { until } from '../harness/basics/wait-until.js';
import { DESK, PHONE, signIn, violationsOf } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import { throttledProxy } from '../harness/hub/throttled-connection.js';
import { applyEverywhere, numberReady, runCommand } from '../harness/simulated/simulated-actions.js';
import type { SimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 30;
const POLICIES = '/apis/fleet.everynode.dev/v1/namespaces/default/rolloutpolicies';
const ROLLOUT = '/apis/fleet.everynode.dev/v1/namespaces/default/rollouts/till';
const DAEMON_SET = '/apis/apps/v1/namespaces/default/daemonsets/till';
const MERGE = 'application/merge-patch+json';
const LIMITS = { timeoutMs: 30_000 };

describeInBrowser('the console', suite);

/** Opens each overlay of the fleet's page. */
const IN_FRONT: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  palette: async (page) => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to a page' }).fill('t');
    await page.getByRole('dialog').getByRole('option').first().waitFor();
  },
  help: async (page) => {
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  },
  columns: async (page) => {
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Agent' }).waitFor();
  },
  views: (page) => page.getByText('Views', { exact: true }).click(),
  bulk: async (page) => {
    await page.getByLabel('Select node-1', { exact: true }).check();
    await page.getByRole('button', { name: 'Maintenance…' }).first().click();
    await page.getByRole('dialog').getByText('1 Pod stop').waitFor();
  },
};

function suite(): void {
  const fixture = new ConsoleFixture(NODES);
  let fleet: SimulatedFleet;
  let server: string;
  let token: string;

  before(async () => {
    fleet = fixture.fleet;
    ({ server, token } = fixture.access);
    await fleet.api.request('POST', POLICIES, {
      metadata: { name: 'gentle' },
      // The DaemonSet has no labels; an empty selector matches it.
      spec: {
        selector: {},
        waves: [{ name: 'canary', nodes: 2, soakSeconds: 3600 }],
        failureBudget: { maxFailed: 10 },
      },
    });
    await applyEverywhere(fleet, 'till');
    await until(async () => (await numberReady(fleet, 'till')) === NODES, {
      ...LIMITS,
      what: 'all Pods ready',
    });
  });
  const rollout = () => fleet.api.request<Rollout>('GET', ROLLOUT);

  test('a visitor without a session sees nothing, and a wrong token is refused', async () => {
    const { page } = await fixture.visit();
    const answered = await page.goto(`${server}/`);
    assert.match(answered?.headers()['content-security-policy'] ?? '', /default-src 'none'/);
    assert.doesNotMatch(answered?.headers()['content-security-policy'] ?? '', /unsafe/);
    await page.getByLabel('Token').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The coordinator rejected the token.').waitFor();
    assert.equal(await page.getByText('node-1').count(), 0);
  });

  test('a user without rights sees an explanation', async () => {
    await fleet.api.request('POST', '/api/v1/namespaces/default/serviceaccounts', {
      metadata: { name: 'nobody' },
    });
    const { status } = await fleet.api.request<{ status: { token: string } }>(
      'POST',
      '/api/v1/namespaces/default/serviceaccounts/nobody/token',
      { spec: {} },
    );
    const page = await fixture.signedIn('', { token: status.token });
    await page.getByText('You are not allowed to list hosts').waitFor();
    assert.equal(await page.getByRole('link', { name: 'node-1', exact: true }).count(), 0);
  });

  test('the fleet page adds its counts up, shows an offline host within a second, and keeps filters in the URL', async () => {
    const page = await fixture.signedIn('hosts');
    await page.getByText(`${NODES} hosts`).waitFor();
    await page.getByRole('button', { name: `${NODES} Healthy` }).waitFor();
    await runCommand(fleet, 'offline node-7');
    await page.getByRole('button', { name: '1 Offline', exact: true }).click();
    await page.getByRole('link', { name: 'node-7', exact: true }).waitFor();
    await page.waitForURL(/condition=offline/);
    await runCommand(fleet, 'online node-7');
    await page.getByRole('button', { name: '0 Offline', exact: true }).waitFor();
    await page.goto(`${server}/console/hosts?filter=kubernetes.io/hostname%20in%20(node-3,node-4)`);
    await page.getByText('2 hosts').waitFor();
  });

  test('the host page sets a label, cordons, and states why each DaemonSet runs there', async () => {
    const page = await fixture.signedIn('hosts/node-3?tab=settings');
    await page.getByLabel('New label').fill('site=hamburg');
    await page.getByRole('button', { name: 'Set label' }).click();
    await page.getByText('No Pods start or stop.').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
    await page.getByText('site=hamburg', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cordon' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cordon', exact: true }).click();
    await page.getByRole('button', { name: 'Uncordon' }).waitFor();
    const parts = page.getByRole('navigation', { name: 'Parts of host node-3' });
    await parts.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('cell', { name: 'Running', exact: true }).first().waitFor();
    await parts.getByRole('link', { name: 'Events' }).click();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('changed host node-3: label site set to hamburg').waitFor();
    await timeline.getByRole('button', { name: 'Link' }).click();
    await timeline.getByText('changed host node-3').first().waitFor({ state: 'detached' });
    await timeline.getByText('The host joined.').waitFor();
    const node = await fleet.api.request<Node>('GET', '/api/v1/nodes/node-3');
    assert.equal(node.metadata.labels?.site, 'hamburg');
    assert.equal(node.spec?.unschedulable, true);
  });

  test('every tab with a host page stays live, however many are open', async () => {
    const first = await fixture.signedIn('hosts/node-1');
    for (let number = 2; number <= 5; number += 1) {
      const page = await first.context().newPage();
      await page.goto(`${server}/console/hosts/node-${number}?tab=workloads`);
      await page.getByRole('region', { name: 'Pods' }).getByRole('cell', { name: 'Running' }).waitFor();
    }
    await first.getByRole('button', { name: 'Cordon' }).click();
    await first.getByRole('dialog').getByRole('button', { name: 'Cordon', exact: true }).click();
    await first.getByRole('button', { name: 'Uncordon' }).waitFor();
  });

  test('a lost connection is shown at the top and recovers by itself', async (context) => {
    const wire = await throttledProxy(Number(new URL(server).port), 10_000_000);
    context.after(() => wire.close());
    const { page } = await fixture.visit();
    await signIn(page, `https://127.0.0.1:${wire.port}`, token, 'hosts');
    await page.getByText(`${NODES} hosts`).waitFor();
    wire.down();
    await page.getByRole('alert').getByText('The coordinator is unreachable').waitFor();
    await page.getByText(`${NODES} hosts`).waitFor();
    await wire.up();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('a bad release is stopped from a phone, with a confirmation that lists the affected hosts', async () => {
    await fleet.api.request(
      'PATCH',
      DAEMON_SET,
      { spec: { template: { spec: { containers: [{ name: 'main', image: 'app:2' }] } } } },
      MERGE,
    );
    const page = await fixture.signedIn('rollouts/default/till', { viewport: PHONE });
    await page.getByRole('heading', { name: 'Soaking' }).waitFor({ timeout: LIMITS.timeoutMs });
    await page.getByText('2 of 2 updated').waitFor();
    await page.getByRole('button', { name: 'Abort' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 hosts with the new revision are reverted').waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Abort' }).isDisabled(), 'a reason is asked for');
    await dialog.getByLabel(/Why/).fill('tills print twice');
    await dialog.getByRole('button', { name: 'Abort' }).click();
    await page.getByRole('heading', { name: 'Rolled back' }).waitFor({ timeout: LIMITS.timeoutMs });
    await page.getByText('Last request: everynode-admin').getByText('tills print twice').waitFor();
    await page.getByRole('link', { name: 'Activity', exact: true }).first().click();
    await page.getByRole('listitem').getByText('aborted the rollout: “tills print twice”').waitFor();
    const { status } = await rollout();
    assert.equal(status?.aborted, true);
    assert.equal(status?.steering?.requests?.at(-1)?.user, 'everynode-admin');
    const width = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok((width as number) <= PHONE.width, `the page is ${width} px wide on a phone`);
  });

  test('logs of several Pods are side by side, with one search, and the URL names the Pods', async () => {
    const { items } = await fleet.api.items<{ metadata: { name: string } }>(
      '/api/v1/namespaces/default/pods',
    );
    const [first = '', second = ''] = items.map(({ metadata }) => metadata.name);
    const page = await fixture.signedIn(`logs?pods=default/${first}`);
    await page
      .getByRole('region', { name: `Log of ${first}` })
      .first()
      .waitFor();
    await page.getByLabel('Pod as namespace/name').fill(`default/${second}`);
    await page.getByRole('button', { name: 'Add Pod' }).click();
    await page.getByRole('button', { name: `Close the log of ${second}` }).waitFor();
    await page.waitForURL((url) => url.href.includes(second));
    await page.getByLabel('Search the log').fill('no line has this');
    await page.getByRole('button', { name: `Close the log of ${first}` }).click();
    await page.getByRole('button', { name: `Close the log of ${first}` }).waitFor({ state: 'detached' });
    await page.waitForURL((url) => !url.href.includes(first) && /search=no/.test(url.search));
  });

  test('the activity page names the user of each action, and signing out hides everything', async () => {
    const page = await fixture.signedIn('audit?resource=serviceaccounts&verb=create');
    await page.getByRole('cell', { name: 'everynode-admin created ServiceAccount default/nobody' }).waitFor();
    const changes = page.getByRole('list', { name: 'Changed fields' });
    await page.goto(`${server}/console/`);
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByLabel('Object').fill('default/till');
    const row = page.getByRole('row', { name: /image of main app:1 → app:2/ });
    await row.getByRole('button', { name: 'Change of default/till' }).click();
    await changes.getByText('spec.template.spec.containers[main].image').waitFor();
    assert.deepEqual(await violationsOf(page), []);
    const other = await page.context().newPage();
    await other.goto(`${server}/console/audit?verb=create`);
    await other.getByRole('heading', { level: 1, name: 'Activity' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    // Simulates a restarted coordinator, which has no sessions.
    await other.getByLabel('Token').waitFor();
    await other.getByText('Your session has ended.').waitFor();
    await page.goto(`${server}/console/audit`);
    await page.getByLabel('Token').waitFor();
  });

  for (const theme of ['light', 'dark'] as const) {
    test(`no page violates WCAG 2.2 AA, ${theme}`, async () => {
      const { page } = await fixture.visit(DESK, theme);
      await page.goto(`${server}/console/`);
      await page.getByLabel('Token').waitFor();
      const violations = await violationsOf(page);
      await signIn(page, server, token);
      const pods = await fleet.api.items<{ metadata: { name: string } }>('/api/v1/namespaces/default/pods');
      const pages: [path: string, name: string | RegExp][] = [
        ['', 'Overview'],
        ['hosts', 'Hosts'],
        ['hosts/node-2', 'node-2'],
        ['hosts/node-2?tab=events', 'node-2'],
        ['rollouts', 'Rollouts'],
        ['rollouts/default/till', 'till'],
        ['rollouts/default/till?tab=activity', 'till'],
        ['daemonsets', 'DaemonSets'],
        ['daemonsets/default/till?from=1&to=2', 'till'],
        [`pods/default/${pods.items[0]?.metadata.name}`, /^till-/],
        [`logs?pods=default/${pods.items[0]?.metadata.name}`, 'Logs'],
        ['audit', 'Activity'],
        ['calendar', 'Schedule'],
        ['onboarding', 'Add hosts'],
        ['nowhere', 'Page not found'],
      ];
      for (const [path, name] of pages) {
        await page.goto(`${server}/console/${path}`);
        await page.getByRole('heading', { level: 1, name }).waitFor();
        await page.getByText('Loading').first().waitFor({ state: 'detached' });
        violations.push(...(await violationsOf(page)));
      }
      for (const show of Object.values(IN_FRONT)) {
        await page.goto(`${server}/console/hosts?sort=name`);
        await page.getByText(`${NODES} hosts`).waitFor();
        await show(page);
        violations.push(...(await violationsOf(page)));
      }
      assert.deepEqual(violations, []);
    });
  }
}
