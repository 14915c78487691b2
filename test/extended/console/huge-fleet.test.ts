/**
 * Ten thousand hosts in the console in a real browser. The hosts are Nodes without agents, which makes no difference
 * for the console.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { until } from '../../harness/basics/wait-until.js';
import { accessOf, DESK, PHONE, signIn, startBrowser, visit } from '../../harness/console/browser.js';
import { describeInBrowser } from '../../harness/console/console-fixture.js';
import { browseLargeFleet } from '../../harness/console/large-fleet-steps.js';
import { storedHostName, storeHosts } from '../../harness/controllers/stored-fleet.js';
import {
  type CoordinatorProcess,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';

const HOSTS = 10_000;
const SITES = 40;
const OF_A_SITE = HOSTS / SITES;
const ZONES = ['Europe.Berlin', 'America.New_York'];
const LIMIT_MS = 120_000;
const FLEET_API = '/apis/fleet.everynode.dev/v1/namespaces/default';
const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const MERGE = 'application/merge-patch+json';

describeInBrowser('ten thousand hosts in the console', suite);

function suite(): void {
  const directory = mkdtempSync(join(tmpdir(), 'everynode-huge-'));
  let coordinator: CoordinatorProcess | undefined;
  let browser: Browser;
  let api: CoordinatorApi;

  before(async () => {
    const data = join(directory, 'data');
    await storeHosts(data, HOSTS, (index) => ({
      site: `site-${index % SITES}`,
      tz: ZONES[index % ZONES.length] ?? '',
    }));
    coordinator = await startCoordinatorProcess(data);
    browser = await startBrowser();
    api = new CoordinatorApi(coordinator.kubeconfig);
    await releaseSomething(api);
  });
  after(async () => {
    api?.close();
    await browser?.close();
    await coordinator?.end('SIGTERM');
    rmSync(directory, { recursive: true, force: true });
  });

  /** Opens pages as one user with one viewport. Fails if the page reports an error. */
  const looking = async (path: string, look: (page: Page) => Promise<void>, viewport = DESK) => {
    const { server, token } = accessOf(coordinator?.kubeconfig ?? '');
    const { page, context, problems } = await visit(browser, viewport);
    page.setDefaultTimeout(LIMIT_MS);
    await signIn(page, server, token, path);
    await look(page);
    assert.deepEqual(problems, []);
    await context.close();
  };

  test('a fleet page with ten thousand hosts adds its counts up, draws few rows, filters, and opens a host', () =>
    looking('hosts?sort=name&group=site', (page) =>
      browseLargeFleet(page, {
        hosts: HOSTS,
        selector: 'site=site-3',
        selected: OF_A_SITE,
        last: storedHostName(HOSTS - 1),
      }),
    ));

  test('an action on all hosts states their number before it starts', () =>
    looking('hosts?filter=site=site-3&sort=name', async (page) => {
      const bar = page.getByRole('region', { name: 'Chosen hosts' });
      await page.getByRole('checkbox', { name: `Select all ${OF_A_SITE}` }).check();
      await bar.getByText(`${OF_A_SITE} hosts selected`).waitFor();
      await page.getByRole('searchbox', { name: 'Filter' }).fill('');
      await page.getByRole('checkbox', { name: `Select all ${HOSTS}` }).check();
      await bar.getByText(`${HOSTS} hosts selected`).waitFor();
      await bar.getByRole('button', { name: 'Maintenance…' }).first().click();
      const dialog = page.getByRole('dialog', { name: `Maintenance: ${HOSTS} hosts?` });
      await dialog.getByText(`${HOSTS} Pods stop`).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await bar.getByRole('button', { name: 'Clear selection' }).click();
      await bar.waitFor({ state: 'detached' });
    }));

  test('rollout, DaemonSet and calendar pages count all hosts, also on a phone', () =>
    looking(
      'rollouts/default/till',
      async (page) => {
        await page.getByText(`0 of ${HOSTS / 10} updated`).waitFor();
        await page.getByRole('button', { name: 'Abort' }).click();
        await page.getByRole('dialog').getByText('0 hosts with the new revision are reverted').waitFor();
        await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
        await page.getByRole('link', { name: 'View DaemonSet and older versions' }).click();
        await page.getByText(new RegExp(`^\\d+ of ${HOSTS} hosts available$`)).waitFor();
        await page.getByRole('region', { name: 'Where it runs' }).getByRole('term').first().waitFor();
        await page.keyboard.press('g');
        await page.keyboard.press('c');
        await page.getByRole('heading', { name: `Europe/Berlin · ${HOSTS / 2} hosts` }).waitFor();
        const width = (await page.evaluate('document.documentElement.scrollWidth')) as number;
        assert.ok(width <= PHONE.width, `the page is ${width} px wide on a phone`);
      },
      PHONE,
    ));
}

/** A DaemonSet on all hosts, and an update of it with waves and windows. */
async function releaseSomething(api: CoordinatorApi): Promise<void> {
  await api.request('POST', `${FLEET_API}/rolloutpolicies`, {
    metadata: { name: 'gentle' },
    spec: {
      selector: {},
      waves: [{ name: 'tenth', nodes: '10%', soakSeconds: 3600 }],
      windows: [{ schedule: '0 3 * * *', durationSeconds: 7200, timeZoneLabel: 'tz' }],
    },
  });
  const labels = { app: 'till' };
  const template = (image: string) => ({
    metadata: { labels },
    spec: { containers: [{ name: 'main', image }] },
  });
  const spec = { selector: { matchLabels: labels }, template: template('till:1') };
  await api.request('POST', DAEMON_SETS, { metadata: { name: 'till' }, spec });
  const isScheduled = async () => {
    const { status } = await api.request<{ status?: { currentNumberScheduled?: number } }>(
      'GET',
      `${DAEMON_SETS}/till`,
    );
    return status?.currentNumberScheduled === HOSTS;
  };
  await until(isScheduled, { timeoutMs: LIMIT_MS, what: 'a Pod for each host' });
  await api.request('PATCH', `${DAEMON_SETS}/till`, { spec: { template: template('till:2') } }, MERGE);
  const hasBegun = async () => {
    const { code, body } = await api.send('GET', `${FLEET_API}/rollouts/till`);
    return code === 200 && (body as Rollout).status?.waves.length === 2;
  };
  await until(hasBegun, { timeoutMs: LIMIT_MS, what: 'the rollout' });
}
