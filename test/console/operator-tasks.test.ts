/**
 * The twelve tasks of an operator, done in a real browser through the console alone. Each task begins on the start page
 * and may take at most the clicks and typed fields of `MOST`.
 */
import assert from 'node:assert/strict';
import { before, type TestContext, test } from 'node:test';
import type { BrowserContextOptions } from 'playwright-core';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import { until } from '../harness/basics/wait-until.js';
import { noonZone } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import {
  BERLIN_HOSTS,
  OFFLINE_HOST,
  OPERATOR_HOSTS,
  prepareOperatorFleet,
  readerOfShop,
  TAINTED_HOST,
} from '../harness/console/operator-fleet.js';
import { TaskSteps } from '../harness/console/task-steps.js';

/** The most clicks and typed fields, counted from the start page. */
const MOST = {
  'find out why a host has no Pod of a DaemonSet': { clicks: 1, fields: 1 },
  'find the hosts that are offline, and since when': { clicks: 1, fields: 0 },
  'approve a wave': { clicks: 2, fields: 0 },
  'stop a failed release and go back': { clicks: 2, fields: 1 },
  'go back to an older version': { clicks: 4, fields: 0 },
  'add a host': { clicks: 2, fields: 0 },
  'label ten hosts': { clicks: 4, fields: 1 },
  'find out what was changed, and by whom': { clicks: 2, fields: 0 },
  'read the log of a failing Pod': { clicks: 3, fields: 0 },
  'open a shell in a container': { clicks: 3, fields: 1 },
  'change an image and preview the effect': { clicks: 4, fields: 1 },
  'find out which version runs where': { clicks: 2, fields: 0 },
  'find the next window of a site': { clicks: 1, fields: 0 },
  'put a host into maintenance': { clicks: 2, fields: 1 },
  'read the workloads of one namespace': { clicks: 1, fields: 0 },
} as const;

type TaskName = keyof typeof MOST;

describeInBrowser('the tasks of an operator in the console', suite);

function suite(): void {
  const fixture = new ConsoleFixture(OPERATOR_HOSTS);

  /** Cookies of the administrator: each task would otherwise begin with signing in. */
  let session: BrowserContextOptions['storageState'];

  const timezoneId = noonZone(new Date());

  before(() => prepareOperatorFleet(fixture.fleet));
  const get = <T>(path: string) => fixture.fleet.api.request<T>('GET', path);

  const startPage = async (token?: string) => {
    if (token !== undefined || session === undefined) {
      const page = await fixture.signedIn('', { timezoneId, ...(token === undefined ? {} : { token }) });
      if (token === undefined) session = await page.context().storageState();
      return page;
    }
    const { page } = await fixture.visit(undefined, undefined, { timezoneId, storageState: session });
    await page.goto(`${fixture.access.server}/console/`);
    return page;
  };

  /** Defines the test of a task. `perform` must end with what the user wanted to see. */
  const task = (
    name: TaskName,
    perform: (steps: TaskSteps) => Promise<void>,
    token?: () => Promise<string>,
  ) =>
    test(name, async (context: TestContext) => {
      const page = await startPage(token && (await token()));
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      const steps = new TaskSteps(page);
      await perform(steps);
      const { clicks, fields } = MOST[name];
      context.diagnostic(`${steps.clicks} of ${clicks} clicks, ${steps.fields} of ${fields} fields`);
      assert.ok(steps.clicks <= clicks, `${steps.clicks} clicks, at most ${clicks}`);
      assert.ok(steps.fields <= fields, `${steps.fields} typed fields, at most ${fields}`);
    });

  task('find out why a host has no Pod of a DaemonSet', async (steps) => {
    await steps.goTo(TAINTED_HOST, new RegExp(TAINTED_HOST));
    const reasons = steps.page.getByRole('region', { name: 'DaemonSets' });
    await reasons.getByRole('row', { name: /^sign .*taint/ }).waitFor();
  });

  task('find the next window of a site', async (steps) => {
    const windows = steps.page.getByRole('region', { name: 'Next windows' });
    await windows.getByRole('listitem').filter({ hasText: 'hamburg' }).locator('time').waitFor();
  });

  task('find out which version runs where', async (steps) => {
    await steps.press('DaemonSets');
    await steps.page.getByRole('row', { name: /till .*till:1\.5\.0/ }).waitFor();
    await steps.press('till');
    await steps.page.getByText('till:1.5.0').first().waitFor();
    await steps.page.getByText('till:1.4.1').first().waitFor();
  });

  task('read the log of a failing Pod', async (steps) => {
    await steps.press(/^Rollout of till/);
    await steps.page
      .getByLabel(/^Last log lines of till-/)
      .first()
      .waitFor();
  });

  task('open a shell in a container', async (steps) => {
    await steps.goTo('node-2', /^Host node-2 /);
    await steps.press('Terminal');
    await steps.press('Open a terminal');
    await steps.page.getByText('Connected to main').waitFor();
    await steps.page.keyboard.type('echo it works\r');
    await steps.page
      .locator('.xterm-rows > div')
      .filter({ hasText: /^it works/ })
      .waitFor();
  });

  task('approve a wave', async (steps) => {
    const inbox = steps.page.getByRole('region', { name: 'Inbox' });
    await steps.press(/^Approve/, inbox);
    await steps.confirm(/^Approve/);
    const phase = async () => (await get<{ status: { phase: string } }>(rollout('sign'))).status.phase;
    await until(async () => (await phase()) !== 'AwaitingApproval', {
      timeoutMs: 30_000,
      what: 'the wave to open',
    });
  });

  task('stop a failed release and go back', async (steps) => {
    const inbox = steps.page.getByRole('region', { name: 'Inbox' });
    const row = inbox.getByRole('listitem').filter({ hasText: 'Rollout of till' });
    await steps.press('Abort', row);
    await steps.type(steps.page.getByRole('dialog').getByLabel(/Why/), 'the new version crashes');
    await steps.confirm('Abort');
    const phase = async () => (await get<{ status: { phase: string } }>(rollout('till'))).status.phase;
    await until(async () => (await phase()) === 'RolledBack', {
      timeoutMs: 30_000,
      what: 'the release to be reverted',
    });
  });

  task('go back to an older version', async (steps) => {
    await steps.press('DaemonSets');
    await steps.press('till');
    const row = steps.page.getByRole('row', { name: /registry\.example\/till:1\.4\.1|till:1\.4\.1/ });
    await steps.press(/^Roll back to/, row);
    await steps.confirm(/^Roll back to/);
    const image = async () =>
      (await get<DaemonSet>(daemonSet('till'))).spec.template.spec.containers[0]?.image;
    await until(async () => (await image()) === 'registry.example/till:1.4.1', {
      timeoutMs: 30_000,
      what: 'the image',
    });
  });

  task('add a host', async (steps) => {
    await steps.press('Add host');
    await steps.press('Create join command');
    await steps.page.locator('code', { hasText: 'everynode-agent --server' }).waitFor();
  });

  task('label ten hosts', async (steps) => {
    await steps.press('berlin');
    await steps.page.getByText(`${BERLIN_HOSTS} hosts`).first().waitFor();
    await steps.click(steps.page.getByRole('checkbox', { name: /^Select all/ }));
    await steps.type(steps.page.getByLabel('Label for the selected hosts'), 'shift=early');
    await steps.press('Label…');
    await steps.confirm(`Label ${BERLIN_HOSTS} hosts`);
    await steps.page.getByText(`${BERLIN_HOSTS} of ${BERLIN_HOSTS} done`).waitFor();
  });

  task('change an image and preview the effect', async (steps) => {
    await steps.press('DaemonSets');
    await steps.press('sign');
    await steps.press('Change image');
    await steps.type(steps.page.getByLabel('Image of main'), 'registry.example/sign:3.3.0');
    await steps.press('Preview changes');
    await steps.page.getByRole('heading', { name: 'Effect on hosts' }).waitFor();
  });

  task('put a host into maintenance', async (steps) => {
    await steps.goTo(`maintenance node-3`, /Maintenance node-3/);
    await steps.confirm('Start maintenance');
    await steps.page.getByRole('button', { name: 'End maintenance' }).waitFor();
    const { spec } = await get<Node>('/api/v1/nodes/node-3');
    assert.equal(spec?.unschedulable, true);
  });

  // Late: the coordinator notices after some heartbeats that hosts are cut off.
  task('find the hosts that are offline, and since when', async (steps) => {
    await steps.page.getByRole('link', { name: /^Site rostock is mostly offline/ }).waitFor();
    await steps.press(/^\d+ hosts? (is|are) offline/);
    const row = steps.page.getByRole('row', { name: new RegExp(`${OFFLINE_HOST} .*Offline`) });
    await row
      .locator('time')
      .or(row.getByText(/ago|\d\d:\d\d/))
      .first()
      .waitFor();
  });

  task('find out what was changed, and by whom', async (steps) => {
    await steps.press('Activity');
    await steps.press('Today');
    await steps.page
      .getByRole('row', { name: /everynode-admin changed DaemonSet default\/till/ })
      .first()
      .waitFor();
  });

  task(
    'read the workloads of one namespace',
    async (steps) => {
      await steps.press('DaemonSets');
      await steps.page.getByRole('row', { name: /shop-app .*shop-app:0\.9\.0/ }).waitFor();
    },
    () => readerOfShop(fixture.fleet),
  );
}

const rollout = (name: string) => `/apis/fleet.everynode.dev/v1/namespaces/default/rollouts/${name}`;
const daemonSet = (name: string) => `/apis/apps/v1/namespaces/default/daemonsets/${name}`;
