/** The pages of jobs in the console, in a real browser. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import { until } from '../harness/basics/wait-until.js';
import { PHONE, signIn, tooWideOf, violationsOf } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import { runCommand } from '../harness/simulated/simulated-actions.js';
import type { SimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 5;
const JOBS = '/apis/fleet.everynode.dev/v1/namespaces/default/daemonjobs';
const LIMITS = { timeoutMs: 60_000 };
/** All hosts but node-5, which is offline. */
const ONLINE = {
  nodeSelectorTerms: [
    { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: ['node-5'] }] },
  ],
};
const MERGE = 'application/merge-patch+json';

describeInBrowser('jobs in the console', suite);

function suite(): void {
  const fixture = new ConsoleFixture(NODES);
  let fleet: SimulatedFleet;

  const isOver = (name: string) => async () => {
    const { status } = await fleet.api.request<DaemonJob>('GET', `${JOBS}/${name}`);
    return (status?.succeeded ?? 0) + (status?.failed ?? 0) === NODES - 1 && status?.offline === 1;
  };

  /** `upgrade`: fails on node-2, waits for node-5, which is offline. `idle` is suspended. */
  before(async () => {
    fleet = fixture.fleet;
    await runCommand(fleet, 'offline node-5');
    const annotations = { 'simulate.everynode.dev/fail-on': 'node-2' };
    const template = {
      metadata: { annotations },
      spec: {
        containers: [{ name: 'flash', image: 'registry.example/flash:3', command: ['flash', '--all'] }],
      },
    };
    await fleet.api.request('POST', JOBS, {
      metadata: { name: 'upgrade' },
      spec: { template, backoffLimit: 0 },
    });
    await fleet.api.request('POST', JOBS, {
      metadata: { name: 'idle' },
      spec: { template: { spec: { containers: [{ name: 'c', image: 'idle:1' }] } }, suspend: true },
    });
    await until(isOver('upgrade'), { ...LIMITS, what: 'the ends of the Pods' });
  });

  const resultsOf = (page: Page) => page.getByRole('region', { name: 'Hosts of the job' });

  test('the list shows states and counts, filters by failures, and leads to a job', async () => {
    const page = await fixture.signedIn('jobs');
    const row = page.getByRole('row', { name: /upgrade/ });
    await row.getByText('3 of 5 succeeded, 1 failed, 1 offline').waitFor();
    await row.getByText('flash:3').waitFor();
    await page.getByRole('row', { name: /idle/ }).getByText('Suspended').waitFor();
    await page.getByRole('checkbox', { name: 'Only with failed or missed hosts' }).check();
    await page.getByRole('row', { name: /idle/ }).waitFor({ state: 'detached' });
    assert.deepEqual(await violationsOf(page), []);
    await row.getByRole('link', { name: 'upgrade' }).click();
    await page.getByRole('heading', { level: 1, name: 'upgrade' }).waitFor();
  });

  test('a job shows each host with exit code and log, and the state filter is in the address', async () => {
    const page = await fixture.signedIn('jobs/default/upgrade');
    await page.getByText('3 of 5 succeeded, 1 failed, 1 offline').waitFor();
    await page.getByRole('img', { name: /Map of the hosts/ }).waitFor();
    await resultsOf(page).getByRole('row').nth(NODES).waitFor();
    await page.getByRole('combobox', { name: 'Show' }).selectOption('Failed');
    await resultsOf(page).getByRole('row').nth(2).waitFor({ state: 'detached' });
    await page.waitForURL(/state=Failed/);
    const failed = resultsOf(page).getByRole('row', { name: /node-2 Failed 1 / });
    await failed.waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await failed.getByRole('link', { name: 'Pod and log' }).click();
    await page.getByRole('heading', { level: 1, name: 'upgrade.node-2.0' }).waitFor();
    await page.goBack();
    assert.equal(await page.getByRole('combobox', { name: 'Show' }).inputValue(), 'Failed');
  });

  test('a host shows its jobs, and the DaemonJob of a host that is offline', async () => {
    const page = await fixture.signedIn('hosts/node-2?tab=workloads');
    const jobs = page.getByRole('region', { name: 'Jobs of the host' });
    await jobs
      .getByRole('row', { name: /upgrade/ })
      .getByText(/^Failed/)
      .waitFor();
    await page.goto(`${fixture.access.server}/console/hosts/node-5?tab=workloads`);
    await jobs
      .getByRole('row', { name: /upgrade/ })
      .getByText('Offline')
      .waitFor();
  });

  test('a job is resumed and suspended, and its deletion asks first, with a red button', async () => {
    await fleet.api.request('POST', JOBS, {
      metadata: { name: 'brief' },
      spec: { template: { spec: { containers: [{ name: 'c', image: 'idle:1' }] } }, suspend: true },
    });
    const page = await fixture.signedIn('jobs/default/brief');
    await page.getByRole('button', { name: 'Resume' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('may start again').waitFor();
    await dialog.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('4 of 5 succeeded, 1 offline').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    const remove = dialog.getByRole('button', { name: 'Delete' });
    assert.equal(await remove.getAttribute('data-danger'), 'true');
    await remove.click();
    await page.getByText('There is no DaemonJob with this name.').waitFor();
  });

  test('a finished job runs again on failed hosts only', async () => {
    const template = {
      metadata: { annotations: { 'simulate.everynode.dev/fail-on': 'node-1' } },
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': 'node-1' },
        containers: [{ name: 'c', image: 'idle:1' }],
      },
    };
    await fleet.api.request('POST', JOBS, {
      metadata: { name: 'twice' },
      spec: { template, backoffLimit: 0 },
    });
    const page = await fixture.signedIn('jobs/default/twice');
    await page.getByRole('button', { name: 'Rerun failed hosts' }).click();
    await page.getByRole('dialog').getByText('1 host that failed or missed it').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Rerun failed hosts' }).click();
    const isSecond = async () => (await fleet.api.request<DaemonJob>('GET', `${JOBS}/twice`)).spec.run === 2;
    await until(isSecond, { ...LIMITS, what: 'the second run' });
  });

  test('a job that waits for approval is approved wave by wave, also on the start page', async () => {
    await fleet.api.request('POST', JOBS.replace('daemonjobs', 'rolloutpolicies'), {
      metadata: { name: 'careful' },
      spec: {
        selector: { matchLabels: { app: 'none' } },
        waves: [
          { name: 'canary', nodes: 1 },
          { name: 'some', nodes: 1, approval: 'Manual' },
          { name: 'most', nodes: '100%', approval: 'Manual' },
        ],
      },
    });
    await fleet.api.request('POST', JOBS, {
      metadata: { name: 'firmware' },
      spec: {
        template: {
          spec: {
            affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: ONLINE } },
            containers: [{ name: 'c', image: 'flash:4' }],
          },
        },
        rolloutPolicyName: 'careful',
      },
    });
    const page = await fixture.signedIn();
    const inbox = page.getByRole('region', { name: 'Inbox' });
    await inbox.getByRole('link', { name: 'Job firmware: waiting for approval' }).waitFor();
    const state = page.getByRole('region', { name: 'State of the fleet' });
    await state.getByText(/1 job waits for you/).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await inbox.getByRole('button', { name: 'Approve some' }).click();
    await page.getByRole('dialog').getByText('Wave some opens: 1 host may start.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve some' }).click();
    await inbox.getByRole('button', { name: 'Approve most' }).waitFor();
    await inbox.getByRole('link', { name: /^Job firmware/ }).click();
    await page.getByRole('heading', { level: 1, name: 'firmware' }).waitFor();
    const waves = page.getByRole('region', { name: 'Waves' });
    await waves.getByText('wave most waits for approval').waitFor();
    await waves.getByRole('row', { name: /canary 1 of 1 succeeded/ }).waitFor();
    await page.getByText('at any time, by the rules of careful, wave by wave, see the Schedule').waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole('button', { name: 'Approve most' }).click();
    await page.getByRole('dialog').getByText('approve=some,most').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve most' }).click();
    await page.getByText('4 of 4 succeeded').waitFor();
    await page.getByText('Complete', { exact: true }).waitFor();
  });

  test('a job with a future start is scheduled, and has not started', async () => {
    await fleet.api.request('POST', JOBS, {
      metadata: { name: 'ahead' },
      spec: {
        startAt: '2099-12-24T03:00:00',
        template: { spec: { containers: [{ name: 'c', image: 'idle:1' }] } },
      },
    });
    const page = await fixture.signedIn('jobs');
    const row = page.getByRole('row', { name: /ahead/ });
    await row.getByText('Scheduled').waitFor();
    await row.getByText('not yet, starts at 2099-12-24 03:00:00 by the clock of each host').waitFor();
  });

  test('the form counts hosts before it runs a command, and shows the command line', async () => {
    await fleet.api.request(
      'PATCH',
      '/api/v1/nodes/node-3',
      { metadata: { labels: { site: 'kiel' } } },
      MERGE,
    );
    const page = await fixture.signedIn('jobs/new');
    await page.getByText('Enter an image.').waitFor();
    await page.getByLabel('Image', { exact: true }).fill('busybox:1.36');
    await page.getByLabel('Labels', { exact: true }).fill('site=kiel');
    await page.getByLabel(/^Command/).fill('uname -a');
    await page.getByText('1 of 5 hosts matches.').waitFor();
    await page.getByText('everynode job run --selector site=kiel -- busybox:1.36 uname -a').waitFor();
    await page.getByRole('radio', { name: 'All hosts' }).check();
    await page.getByText('5 of 5 hosts match. 1 host of them is offline now.').waitFor();
    await page.getByRole('radio', { name: 'With these labels' }).check();
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole('button', { name: 'Run on 1 host' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Run' }).click();
    await page.getByRole('heading', { level: 1, name: /^run-/ }).waitFor();
    await page.getByText('1 of 1 succeeded').waitFor();
  });

  test('a field that the API rejects is named in the form', async () => {
    const page = await fixture.signedIn('jobs/new');
    await page.getByLabel('Image', { exact: true }).fill('busybox:1.36');
    await page.getByRole('radio', { name: 'All hosts' }).check();
    await page.getByText('Limits and namespace').click();
    await page.getByLabel('Hosts at once').fill('many');
    await page.getByText(/spec\.parallelism/).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled());
  });

  test('a scheduled job shows its schedule, and is suspended on its page', async () => {
    const path = `${JOBS.replace('daemonjobs', 'crondaemonjobs')}`;
    const spec = { template: { spec: { containers: [{ name: 'c', image: 'report:2' }] } } };
    await fleet.api.request('POST', path, {
      apiVersion: 'fleet.everynode.dev/v1',
      kind: 'CronDaemonJob',
      metadata: { name: 'nightly' },
      spec: { schedule: '0 3 * * *', jobTemplate: { spec } },
    });
    const page = await fixture.signedIn('jobs');
    // The first run is in the list of jobs.
    const scheduled = page.getByRole('region', { name: 'CronDaemonJobs' });
    const row = scheduled.getByRole('row', { name: /nightly/ });
    await row.getByText('0 3 * * *').waitFor();
    await row.getByText('report:2').waitFor();
    await row.getByText('Scheduled').waitFor();
    await row.getByRole('link', { name: 'nightly' }).click();
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('none while suspended').waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });

  test('the pages fit on a phone, in the dark theme too', async () => {
    const { page } = await fixture.visit(PHONE, 'dark');
    const { server, token } = fixture.access;
    await signIn(page, server, token, 'jobs/default/upgrade');
    await resultsOf(page).getByText('node-2').waitFor();
    for (const [path, heading] of [
      ['jobs/default/upgrade', 'upgrade'],
      ['jobs', 'Jobs'],
      ['jobs/new', 'Run on hosts'],
    ] as const) {
      await page.goto(`${server}/console/${path}`);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      assert.deepEqual(await tooWideOf(page), [], path);
      assert.deepEqual(await violationsOf(page), []);
    }
  });

  test('a user without rights reads what to do', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await fleet.api.request('POST', accounts, { metadata: { name: 'nobody' } });
    const { status } = await fleet.api.request<{ status: { token: string } }>(
      'POST',
      `${accounts}/nobody/token`,
      { spec: {} },
    );
    const page = await fixture.signedIn('jobs', { token: status.token });
    await page.getByText('You are not allowed to list DaemonJobs.').waitFor();
    await page.getByText('If your rights are for one namespace, open it here.').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Run on hosts…' }).count(), 0);
  });
}
