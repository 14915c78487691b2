/**
 * A rollout in the console in a real browser: following it, and steering it with a preview of the hosts that each step
 * touches.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { until } from '../harness/basics/wait-until.js';
import { PHONE, violationsOf } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import { applyEverywhere, numberReady } from '../harness/simulated/simulated-actions.js';
import type { SimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 3;
const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const TILL = `${DAEMON_SETS}/till`;
const POLICIES = '/apis/fleet.everynode.dev/v1/namespaces/default/rolloutpolicies';
const MERGE = 'application/merge-patch+json';
const LIMITS = { timeoutMs: 60_000 };

describeInBrowser('the rollout page', suite);

function suite(): void {
  const fixture = new ConsoleFixture(NODES);
  let fleet: SimulatedFleet;

  before(async () => {
    fleet = fixture.fleet;
    await applyEverywhere(fleet, 'till');
    await until(async () => (await numberReady(fleet, 'till')) === NODES, { ...LIMITS, what: 'till' });
  });

  test('a rollout is frozen, resumed, approved, aborted and retried, each with its number of affected hosts', async () => {
    const labels = { app: 'sign' };
    const release = (image: string) => ({
      metadata: { labels },
      spec: { containers: [{ name: 'main', image }] },
    });
    await fleet.api.request('POST', POLICIES, {
      metadata: { name: 'approved' },
      spec: {
        selector: { matchLabels: labels },
        waves: [
          { name: 'first', nodes: 1 },
          { name: 'second', nodes: '100%', approval: 'Manual' },
        ],
      },
    });
    await fleet.api.request('POST', DAEMON_SETS, {
      metadata: { name: 'sign', labels },
      spec: { selector: { matchLabels: labels }, template: release('sign:1') },
    });
    const page = await fixture.signedIn('rollouts/default/sign');
    const reached = (phase: string) => page.getByRole('heading', { name: phase, exact: true }).waitFor();
    const steer = async (what: string, consequence: RegExp, then: string) => {
      await choose(page, what);
      const dialog = page.getByRole('dialog');
      await dialog.getByText(consequence).waitFor();
      const why = dialog.getByLabel(/Why/);
      if ((await why.count()) > 0) await why.fill('to see');
      await dialog.getByRole('button', { name: what, exact: true }).click();
      await reached(then);
    };
    await reached('Completed');
    await fleet.api.request('PATCH', `${DAEMON_SETS}/sign`, { spec: { template: release('sign:2') } }, MERGE);
    await reached('Waiting for approval');
    const step = page.getByRole('region', { name: 'Waves' }).getByRole('listitem');
    await step.filter({ hasText: 'second' }).getByText('Waiting for approval').waitFor();
    const hosts = page.getByRole('region', { name: 'Hosts', exact: true });
    const code = (name: string) => hosts.getByRole('button', { name: new RegExp(`^\\d+ ${name}$`) });
    await code('Waiting for approval').click();
    const skip = hosts.getByRole('button', { name: /^Skip node-/ }).first();
    const name = ((await skip.textContent()) ?? '').replace('Skip ', '');
    await steer(`Skip ${name}`, /keeps its current revision during this rollout/, 'Waiting for approval');
    await code('Skipped').click();
    await steer(`Include ${name} again`, /is updated like other hosts/, 'Waiting for approval');
    await code('Skipped').waitFor({ state: 'detached' });
    await steer('Freeze', new RegExp(`deleted on any of ${NODES} hosts`), 'Frozen');
    await steer('Resume', /2 hosts may be updated again/, 'Waiting for approval');
    await steer('Abort', /1 host with the new revision is reverted/, 'Rolled back');
    await steer('Try again', new RegExp(`up to ${NODES} hosts`), 'Waiting for approval');
    await steer('Approve second', /Wave second opens: 2 hosts are updated/, 'Completed');
    const { items } = await fleet.api.items<Pod>(`/api/v1/namespaces/default/pods?labelSelector=app%3Dsign`);
    assert.deepEqual([...new Set(items.map(({ spec }) => spec.containers[0]?.image))], ['sign:2']);
  });

  test('the rollout page counts the soak down, shows windows by zone, the first failures and earlier rollouts', async () => {
    const site = { site: 'tokyo' };
    await fleet.api.request('PATCH', '/api/v1/nodes/node-2', { metadata: { labels: site } }, MERGE);
    const elsewhere = { matchExpressions: [{ key: 'site', operator: 'DoesNotExist' }] };
    const always = { schedule: '0 0 * * *', durationSeconds: 90_000 };
    await fleet.api.request('POST', POLICIES, {
      metadata: { name: 'gentle' },
      spec: {
        selector: {},
        waves: [{ name: 'canary', nodes: 1, nodeSelector: elsewhere, soakSeconds: 3600 }],
        failureBudget: { maxFailed: 0 },
        windows: [
          { ...always, timeZone: 'Europe/Berlin', nodeSelector: elsewhere },
          { ...always, timeZone: 'Asia/Tokyo', schedule: '0 3 1 1 *', nodeSelector: { matchLabels: site } },
        ],
      },
    });
    const release = (image: string, annotations = {}) => ({
      metadata: { annotations },
      spec: { containers: [{ name: 'main', image }] },
    });
    await fleet.api.request('PATCH', TILL, { spec: { template: release('till:3') } }, MERGE);
    const page = await fixture.signedIn('rollouts/default/till', { viewport: PHONE });
    await page.getByText(/\d+:\d\d left\./).waitFor();
    await page.getByRole('row', { name: /^Asia\/Tokyo Hosts 1 / }).waitFor();
    const steer = async (what: string, consequence: string, then: string) => {
      await choose(page, what);
      await page.getByRole('dialog').getByText(consequence).waitFor();
      await page.getByRole('dialog').getByRole('button', { name: what, exact: true }).click();
      await page.getByRole('heading', { name: then, exact: true }).waitFor();
    };
    await steer('Pause', '2 hosts keep their current Pods', 'Paused');
    await steer('Resume', '2 hosts may be updated again', 'Soaking');
    await steer('Promote canary', 'wave rest may open: 2 hosts are updated', 'Waiting for a window');
    const bad = release('till:4', { 'simulate.everynode.dev/fail': 'true' });
    await fleet.api.request('PATCH', TILL, { spec: { template: bad } }, MERGE);
    await page.getByText('till:3 → till:4').waitFor();
    const failed = page.getByRole('region', { name: 'Failed hosts' });
    await failed.getByText('CrashLoopBackOff').first().waitFor();
    await failed.getByLabel(/^Last log lines of till-/).waitFor();
    const action = { spec: { failureBudget: { action: 'RollBack' } } };
    await fleet.api.request('PATCH', `${POLICIES}/gentle`, action, MERGE);
    await page.getByRole('heading', { name: 'Rolled back', exact: true }).waitFor();
    await page.reload();
    await failed.getByText('The failed Pod was deleted, and its log with it.').first().waitFor();
    await page.getByText('Error budget: 1 of at most 0 hosts failed. It is used up').waitFor();
    await page.getByRole('link', { name: 'Past rollouts' }).click();
    const past = page.getByRole('region', { name: 'Past rollouts' });
    await past.getByText('Superseded').waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await past.getByRole('link').first().click();
    await page.getByText('This rollout is over').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Abort' }).count(), 0, 'what is over is not steered');
  });
}

/** Presses the button of an action. A seldom used action is in the menu. */
async function choose(page: Page, action: string): Promise<void> {
  const button = page.getByRole('button', { name: action, exact: true });
  const menu = page.getByRole('button', { name: 'More actions' });
  await button.or(menu).first().waitFor();
  if ((await button.count()) > 0) return button.click();
  // By keyboard alone: the entries are reached by arrow keys and by their first letters.
  await menu.press('Enter');
  await page.getByRole('menuitem', { name: action, exact: true }).waitFor();
  await page.keyboard.type(action.slice(0, 3));
  await page.getByRole('menuitem', { name: action, exact: true }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
}
