/** Manifest editor and terminals in a real browser, against a real coordinator and hollow hosts. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { HostReadings } from '../../shared/kube/fleet/host-reading-types.js';
import { until } from '../harness/basics/wait-until.js';
import { DESK, PHONE, tooWideOf, violationsOf } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import { rewrite, textOf } from '../harness/console/yaml-editor-steps.js';
import { numberReady, runCommand } from '../harness/simulated/simulated-actions.js';
import type { SimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 3;
const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const TILL = `${DAEMON_SETS}/till`;
const MERGE = 'application/merge-patch+json';
const LIMITS = { timeoutMs: 60_000 };

describeInBrowser('manifests and terminals in the console', suite);

function suite(): void {
  const fixture = new ConsoleFixture(NODES);
  let fleet: SimulatedFleet;

  before(async () => {
    fleet = fixture.fleet;
    const labels = { app: 'till' };
    await fleet.api.request('POST', DAEMON_SETS, {
      metadata: { name: 'till' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'till:1' }] } },
      },
    });
    await allReady('till');
  });
  const till = () => fleet.api.request<DaemonSet>('GET', TILL);
  const allReady = (name: string) =>
    until(async () => (await numberReady(fleet, name)) === NODES, { ...LIMITS, what: `${name} ready` });
  const anyPod = async () => {
    const { items } = await fleet.api.items<{ metadata: { name: string }; spec: { nodeName: string } }>(
      '/api/v1/namespaces/default/pods?labelSelector=app%3Dtill',
    );
    assert.ok(items[0]);
    return { pod: items[0].metadata.name, node: items[0].spec.nodeName };
  };

  test('a preview of an image that failed is loaded again on request', async () => {
    const page = await fixture.signedIn('daemonsets/default/till?edit=image');
    let refusals = 1;
    await page.route(/\/apis\/fleet\.everynode\.dev\/.*plan/, async (route) => {
      refusals -= 1;
      if (refusals < 0) return route.continue();
      const status = { kind: 'Status', reason: 'ServiceUnavailable', code: 503, message: 'try again' };
      return route.fulfill({ status: 503, json: status });
    });
    await page.getByLabel('Image of main').fill('till:9');
    const preview = page.getByRole('button', { name: 'Preview changes' });
    await preview.click();
    await page.getByRole('alert').getByText('try again').waitFor();
    await preview.click();
    await page.getByRole('heading', { name: 'Effect on hosts' }).waitFor();
  });

  test('an invalid manifest is marked at its line, and a valid one is previewed, confirmed and stored', async () => {
    const page = await fixture.signedIn('daemonsets/default/till?edit=manifest');
    const editor = page.getByRole('textbox', { name: 'Manifest as YAML' });
    await page.getByText('The manifest is valid.').waitFor();
    await rewrite(editor, (text) => text.replace('image: till:1', 'imag: till:1'));
    const problems = page.getByRole('alert', { name: 'Problems' });
    const line = (await textOf(editor)).split('\n').findIndex((each) => each.includes('imag: till:1')) + 1;
    await problems.getByText(`Line ${line}: unknown field "spec.template.spec.containers[0].imag"`).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Preview changes' }).isDisabled());
    await rewrite(editor, (text) => text.replace('imag: till:1', 'image: till:2'));
    await page.getByText('The manifest is valid.').waitFor();
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByLabel('Changes of the manifest').getByText('added: ').waitFor();
    await page.getByText(`default/till on ${NODES} hosts: ${NODES} are replaced`).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    assert.equal((await till()).spec.template.spec.containers[0]?.image, 'till:1', 'nothing is stored yet');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('dialog').getByText(`${NODES} hosts change`).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Saved. The hosts are being updated.').waitFor();
    assert.equal((await till()).spec.template.spec.containers[0]?.image, 'till:2');
  });

  test('an image is changed in one field, with a preview, and the new version is in use', async () => {
    const page = await fixture.signedIn('daemonsets/default/till');
    await page.getByRole('button', { name: 'Change image' }).click();
    const form = page.getByRole('region', { name: 'Change image' });
    await form.getByLabel('Image of main').fill('till:2b');
    await form.getByRole('button', { name: 'Preview changes' }).click();
    await form.getByText(`default/till on ${NODES} hosts: ${NODES} are replaced`).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await form.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Saved. The hosts are being updated.').waitFor();
    const versions = page.getByRole('region', { name: 'Versions in use' });
    await versions.getByRole('row', { name: /till:2b .*100 %/ }).waitFor();
    await page.getByRole('button', { name: 'Changes of revision 3' }).click();
    await page.getByLabel('Changes from revision 2 to 3').getByText('till:2b').waitFor();
    await page.getByRole('cell', { name: 'everynode-admin' }).first().waitFor();
  });

  test('revisions are compared on a phone without scrolling sideways', async () => {
    const page = await fixture.signedIn('daemonsets/default/till?from=1&to=2', { viewport: PHONE });
    for (const language of ['en', 'de']) {
      await page.evaluate(`localStorage.setItem('everynode-language', '${language}')`);
      await page.reload();
      const difference = page.getByLabel('From revision 1 to 2');
      await difference.getByText(/− .*till:1/).waitFor();
      assert.deepEqual(await tooWideOf(page), [], language);
      assert.equal(await difference.getByText('containers:').filter({ visible: true }).count(), 1);
    }
  });

  test('revisions are compared, and a rollback states the number of affected hosts', async () => {
    const page = await fixture.signedIn('daemonsets/default/till?from=1&to=2');
    const difference = page.getByLabel('From revision 1 to 2');
    await difference.getByText('till:1').waitFor();
    await difference.getByText('till:2').waitFor();
    await page.getByRole('button', { name: 'Roll back to 1' }).click();
    await page.getByRole('dialog').getByText(`${NODES} hosts`).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back to 1' }).click();
    await until(async () => (await till()).spec.template.spec.containers[0]?.image === 'till:1', {
      ...LIMITS,
      what: 'the first revision again',
    });
  });

  test('two concurrent edits lose nothing: the second editor sees the other change and merges it', async () => {
    const page = await fixture.signedIn('daemonsets/default/till?edit=manifest');
    const editor = page.getByRole('textbox', { name: 'Manifest as YAML' });
    await page.getByText('The manifest is valid.').waitFor();
    await rewrite(editor, (text) => text.replace(/^spec:$/m, 'spec:\n  minReadySeconds: 1'));
    await fleet.api.request('PATCH', TILL, { spec: { revisionHistoryLimit: 7 } }, MERGE);
    await page.getByRole('button', { name: 'Preview changes' }).click();
    const conflict = page.getByRole('alert', { name: 'Conflict' });
    await conflict.getByText('revisionHistoryLimit: 7').waitFor();
    await conflict.getByRole('button', { name: 'Merge both changes' }).click();
    await page.getByText('The manifest is valid.').waitFor();
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Saved.').waitFor();
    const { spec } = await till();
    assert.deepEqual([spec.minReadySeconds, spec.revisionHistoryLimit], [1, 7]);
  });

  test('a DaemonSet is created from a phone', async () => {
    const page = await fixture.signedIn('daemonsets/new', { viewport: PHONE });
    const editor = page.getByRole('textbox', { name: 'Manifest as YAML' });
    await page.getByText('The manifest is valid.').waitFor();
    await rewrite(editor, (text) => text.replaceAll('my-daemon', 'lamp'));
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByText(`${NODES} start`).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'lamp' }).waitFor();
    await allReady('lamp');
    const width = (await page.evaluate('document.documentElement.scrollWidth')) as number;
    assert.ok(width <= PHONE.width, `the page is ${width} px wide on a phone`);
  });

  test('a terminal follows its window size, reports its exit, and reopens', async () => {
    const { pod } = await anyPod();
    const page = await fixture.signedIn(`pods/default/${pod}`, { viewport: PHONE });
    const run = async (command: string) => {
      await page.getByLabel('run').fill(command);
      await page.getByRole('button', { name: /^Open/ }).click();
    };
    const screen = page.locator('.xterm-rows');
    await run('size');
    await page.getByText('Connected to main').waitFor();
    const lines = page.locator('.xterm-rows > div').filter({ hasText: /\d+ \d+/ });
    const sizeShown = async () => Number(/\d+ (\d+)/.exec((await lines.last().textContent()) ?? '')?.[1]);
    // One key each: a terminal must not lose the first one, nor report its new size after it.
    await page.locator('.xterm-helper-textarea:focus').waitFor({ state: 'attached' });
    await page.keyboard.press('Enter');
    await lines.first().waitFor();
    const narrow = await sizeShown();
    const width = async () => (await page.locator('.xterm-screen').boundingBox())?.width ?? 0;
    const narrowWidth = await width();
    await page.setViewportSize(DESK);
    await until(async () => (await width()) > narrowWidth, { ...LIMITS, what: 'a wider terminal' });
    await page.keyboard.press('Enter');
    await lines.nth(1).waitFor();
    assert.ok((await sizeShown()) > narrow, 'the program sees the wider terminal');
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await run('nothing-of-this-name');
    await page.getByText('The command exited with code 127.').waitFor();
    // A 24-bit colour needs an inline style, which the content security policy refuses as an attribute.
    await run(`echo "\u001b[38;2;255;100;0mwarm\u001b[0m"`);
    const warm = screen.getByText('warm');
    await warm.waitFor();
    assert.equal(
      await warm.evaluate('getComputedStyle(document.querySelector(".xterm-rows span[style]")).color'),
      'rgb(255, 100, 0)',
    );
  });

  test('a terminal reports a lost host, and a user without rights', async () => {
    const { pod, node } = await anyPod();
    const page = await fixture.signedIn(`pods/default/${pod}`);
    await page.getByLabel('run').fill('cat');
    await page.getByRole('button', { name: 'Open a terminal' }).click();
    await page.getByText('Connected to main').waitFor();
    await runCommand(fleet, `offline ${node}`);
    await page.getByText('Connection lost').waitFor();
    await page.getByRole('button', { name: 'Open another' }).click();
    await page.getByText(`node ${node}`).or(page.getByText('not connected')).first().waitFor();
    await runCommand(fleet, `online ${node}`);

    const path = '/api/v1/namespaces/default/serviceaccounts';
    await fleet.api.request('POST', path, { metadata: { name: 'looker' } });
    await fleet.api.request('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
      metadata: { name: 'looker' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'looker', namespace: 'default' }],
    });
    const { status } = await fleet.api.request<{ status: { token: string } }>(
      'POST',
      `${path}/looker/token`,
      {
        spec: {},
      },
    );
    const other = await fixture.signedIn(`pods/default/${pod}`, { token: status.token });
    const rights = other.waitForResponse((answer) => answer.url().endsWith('/selfsubjectrulesreviews'));
    await other.reload();
    await (await rights).finished();
    await other.getByRole('heading', { name: 'Log' }).waitFor();
    await other.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    assert.equal(await other.getByRole('button', { name: 'Open a terminal' }).count(), 0);
  });

  test('a log is downloaded under the name of its Pod and container', async () => {
    const { pod } = await anyPod();
    const page = await fixture.signedIn(`pods/default/${pod}`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), `${pod}-main.log`);
    assert.equal(await download.failure(), null);
  });

  test('the host page shows load, link quality and the history of conditions', async () => {
    const node = '/api/v1/nodes/node-3';
    const everySecond = { metadata: { annotations: { 'fleet.everynode.dev/heartbeat-seconds': '1' } } };
    await fleet.api.request('PATCH', node, everySecond, MERGE);
    const page = await fixture.signedIn('hosts/node-3?tab=metrics');
    const readings = '/apis/fleet.everynode.dev/v1/hosts/node-3/readings';
    const hasReading = async () =>
      (await fleet.api.request<HostReadings>('GET', readings)).recent.times.length > 0;
    await until(hasReading, { ...LIMITS, what: 'a reading' });
    await page.getByRole('img', { name: /^Processors \d+ %, at most \d+ %; Memory \d+ %/ }).waitFor();
    await page.getByRole('button', { name: 'The last day' }).click();
    await page.getByText('Each point is the maximum of 10 minutes.').waitFor();
    await page.getByText('connected, since').waitFor();
    await page.getByText(/^By purpose: .*connect \d/).waitFor();
    await page
      .getByRole('navigation', { name: 'Parts of host node-3' })
      .getByRole('link', { name: 'Events' })
      .click();
    await page.getByText(/changes?, newest first/).click();
    await page.getByRole('listitem').getByText('Connected became True').first().waitFor();
    assert.deepEqual(await violationsOf(page), []);
  });
}
