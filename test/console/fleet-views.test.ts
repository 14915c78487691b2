/**
 * Views of the fleet in the console in a real browser: user preferences, keyboard use, and only what the user's rights
 * allow.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../harness/basics/wait-until.js';
import { accessOf, PHONE, signIn, violationsOf } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import { applyEverywhere } from '../harness/simulated/simulated-actions.js';
import { type SimulatedFleet, startSimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const NODES = 12;
const LIMITS = { timeoutMs: 60_000 };
const MERGE = 'application/merge-patch+json';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** Limit for the presses of Tab from the start of a page to a time on it. */
const MOST_STOPS = 40;

/** The languages of the console, and its word for the last tab of a host. */
const LANGUAGES = [
  ['en', 'Settings'],
  ['de', 'Einstellungen'],
  ['id', 'Pengaturan'],
  ['ko', '설정'],
  ['zh-Hans', '设置'],
] as const;

/** Runs in the page. Returns the tabs that are outside the window or lower than a finger needs. */
const SMALL_OR_OUTSIDE = `[...document.querySelectorAll('nav[aria-label="Parts of host node-1"] a')]
  .filter((link) => {
    const { left, right, height } = link.getBoundingClientRect();
    return left < 0 || right > innerWidth || height < 44 || link.scrollWidth > link.clientWidth;
  })
  .map((link) => link.textContent)`;

describeInBrowser('fleet views in the console', suite);

function suite(): void {
  let fleet: SimulatedFleet;
  let server: string;

  const fixture = new ConsoleFixture(NODES);

  before(async () => {
    fleet = fixture.fleet;
    ({ server } = fixture.access);
    await applyEverywhere(fleet, 'till');
    for (let index = 1; index <= NODES; index += 1) await label(`node-${index}`, { site: 'kiel' });
  });
  const label = (name: string, labels: Record<string, string>) =>
    fleet.api.request('PATCH', `/api/v1/nodes/${name}`, { metadata: { labels } }, MERGE);

  test("a host's times can be shown in its own time zone", async () => {
    await label('node-9', { tz: 'Asia.Tokyo', rack: 'A.1' });
    const page = await fixture.signedIn('hosts/node-9?tab=metrics', {
      ...{ timezoneId: 'America/New_York', locale: 'en-GB' },
    });
    await page.getByText('(Asia/Tokyo)').waitFor();
    const since = page.getByRole('region', { name: 'Link' }).locator('time').first();
    await since.click();
    await page
      .getByRole('tooltip')
      .getByText(/GMT-[45]; there .* GMT\+9$/)
      .waitFor();
    await page.getByLabel('Show times in the host’s time zone').check();
    await page.waitForURL(/times=host/);
    await page
      .getByRole('region', { name: 'Link' })
      .getByText(/\d\d:\d\d:\d\d GMT\+9/)
      .first()
      .waitFor();
    const parts = page.getByRole('navigation', { name: 'Parts of host node-9' });
    await parts.getByRole('link', { name: 'Events' }).click();
    await page
      .getByRole('region', { name: 'Timeline' })
      .getByText(/GMT\+9$/)
      .first()
      .waitFor();
  });

  test('an exact time is reached by Tab and by a tap, and Escape closes it', async () => {
    const page = await fixture.signedIn('hosts/node-3?tab=metrics', { locale: 'en-GB', hasTouch: true });
    const exact = page.getByRole('tooltip').getByText(/^\d+ \w+ 20\d\d, \d\d:\d\d:\d\d/);
    const since = page.getByRole('region', { name: 'Link' }).getByRole('button', { name: /ago$/ }).first();
    await since.waitFor();
    await page.getByRole('main').focus();
    const isReached = async () => (await since.and(page.locator(':focus')).count()) === 1;
    for (let presses = 0; presses < MOST_STOPS && !(await isReached()); presses += 1) {
      await page.keyboard.press('Tab');
    }
    assert.ok(await isReached(), `the time is within ${MOST_STOPS} stops of Tab`);
    await exact.waitFor();
    const description = (await since.getAttribute('aria-describedby')) ?? '';
    assert.equal(await page.locator(`[id="${description}"]`).textContent(), await exact.textContent());
    assert.deepEqual(await violationsOf(page), []);
    await page.keyboard.press('Escape');
    await exact.waitFor({ state: 'detached' });
    await since.tap();
    await exact.waitFor();
    await page.getByRole('heading', { level: 1 }).tap();
    await exact.waitFor({ state: 'detached' });
  });

  test('the settings and the user have visible names', async () => {
    const page = await fixture.signedIn('services');
    await page.getByText('Settings', { exact: true }).click();
    for (const name of ['Theme', 'Rows', 'Language', 'Signed in as']) {
      await page.getByText(name).first().waitFor();
    }
    assert.equal(await page.locator('[title]').count(), 0, 'titles of elements open for a mouse only');
  });

  test('the navigation keeps open settings and the focus when another page is opened', async () => {
    const page = await fixture.signedIn('services');
    await page.getByText('Settings', { exact: true }).click();
    const link = page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: 'Jobs', exact: true });
    await link.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    assert.ok(await page.getByLabel('Theme').isVisible(), 'the settings are open');
    assert.equal(await link.and(page.locator(':focus')).count(), 1, 'the focus is on the link');
  });

  test('the tabs of a host fit on phones in every language, and are large enough for a finger', async () => {
    const page = await fixture.signedIn('hosts/node-1', { viewport: PHONE });
    for (const [language, word] of LANGUAGES) {
      await page.evaluate(`localStorage.setItem('everynode-language', '${language}')`);
      await page.reload();
      const tabs = page.getByRole('navigation', { name: 'Parts of host node-1' });
      await tabs.getByRole('link', { name: word, exact: true }).waitFor();
      assert.deepEqual(await page.evaluate(SMALL_OR_OUTSIDE), [], language);
    }
  });

  test('a read-only user gets no actions, and a user without rights sees nothing', async () => {
    const rules = [
      { apiGroups: [''], resources: ['nodes', 'pods', 'events'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['fleet.everynode.dev'], resources: ['hosts'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps'], resources: ['daemonsets'], verbs: ['get', 'list', 'watch'] },
    ];
    await fleet.api.request('POST', `${RBAC}/clusterroles`, { metadata: { name: 'looker' }, rules });
    await fleet.api.request('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name: 'looker' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'looker' },
      subjects: [{ kind: 'ServiceAccount', name: 'looker', namespace: 'default' }],
    });
    const looker = await accountToken(fleet, 'looker');
    const { page } = await fixture.visit();
    const reviews = reviewsOf(page);
    await signIn(page, server, looker, 'hosts');
    await page.getByRole('link', { name: 'node-1', exact: true }).waitFor();
    // Two reviews: may the user change Nodes, and may the user bar keys.
    await reviews.answered(2);
    assert.equal(await page.getByRole('checkbox', { name: /^Select/ }).count(), 0);
    await page.goto(`${server}/console/hosts/node-1?tab=settings`);
    await page.getByText('labels of the agent').click();
    await page.getByText('kubernetes.io/hostname=node-1').waitFor();
    // Four more reviews, among them: may the user delete the Node, and may the user evict Pods.
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
    await page.getByText('You are not allowed to create join commands').waitFor();
    assert.equal(await page.getByRole('region', { name: 'Tokens' }).count(), 0);
    await page.goto(`${server}/console/calendar`);
    await page.getByText('You are not allowed to list policies').waitFor();
    const admin = await fixture.signedIn('daemonsets');
    await admin.getByRole('link', { name: 'Create a DaemonSet' }).waitFor();
    const nobody = await accountToken(fleet, 'nobody-at-all');
    const other = await fixture.signedIn('hosts/node-1', { token: nobody });
    await other.getByText('You are not allowed to read this host').waitFor();
    assert.equal(await other.getByText('kubernetes.io/hostname').count(), 0);
  });

  test("the calendar shows windows in the hosts' time zones, and freezes", async () => {
    await label('node-1', { tz: 'Europe.Berlin' });
    await label('node-2', { tz: 'America.New_York' });
    await fleet.api.request('POST', '/apis/fleet.everynode.dev/v1/namespaces/default/rolloutpolicies', {
      metadata: { name: 'at-night' },
      spec: {
        selector: { matchLabels: { when: 'at-night' } },
        windows: [{ schedule: '0 3 * * *', durationSeconds: 7200, timeZoneLabel: 'tz' }],
        freezes: [{ from: '2020-01-01', to: '2090-01-01', reason: 'for ever' }],
      },
    });
    const page = await fixture.signedIn('calendar');
    await page.getByRole('heading', { name: 'Europe/Berlin, UTC · 1 host' }).waitFor();
    await page.getByRole('heading', { name: 'America/New_York, UTC · 1 host' }).waitFor();
    await page.getByText('Now: frozen: no Pod is replaced (a freeze period lasts until').first().waitFor();
  });

  test('the palette, single-key shortcuts and the shortcut sheet work by keyboard alone', async () => {
    const page = await fixture.signedIn();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to a page' }).fill('till');
    await page.getByRole('option', { name: 'default/till DaemonSet' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'till' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { level: 1, name: 'Schedule' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { level: 1, name: 'Hosts' }).waitFor();
    await staysInDialog(page);
    await page.getByRole('searchbox', { name: 'Filter' }).waitFor();
    await page.keyboard.press('/');
    await page.locator('input[type=search]:focus').waitFor();
    await page.keyboard.type('node-1');
    await page.waitForURL(/filter=node-1/);
    // A group of buttons is one stop of Tab: arrow keys move within it.
    await page.getByRole('button', { name: / Healthy$/ }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Space');
    await page.waitForURL(/condition=(?!healthy)/);
    await page.keyboard.press('Space');
    await page.waitForURL((url) => !url.search.includes('condition'));
    await page.keyboard.press('Shift+Tab');
    assert.equal(await page.locator('fieldset button:focus').count(), 0, 'Tab leaves the group');
  });

  test('columns, order and views are in the URL, and rows under the pointer keep their places', async () => {
    const page = await fixture.signedIn('hosts?sort=-name&columns=name,version,label:site');
    await page.getByRole('columnheader', { name: 'site' }).waitFor();
    await page.getByRole('row').nth(1).getByRole('link', { name: 'node-9', exact: true }).waitFor();
    await page.getByText('Views', { exact: true }).click();
    await page.getByLabel('Name of this view').fill('by site');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.goto(`${server}/console/hosts`);
    await page.getByText('Views', { exact: true }).click();
    await page.getByRole('button', { name: 'by site', exact: true }).click();
    await page.waitForURL(/label/);
    await page.getByRole('columnheader', { name: 'site' }).getByRole('button').click();
    await page.locator('th[aria-sort=ascending]', { hasText: 'site' }).waitFor();
    await page.mouse.move(0, 0);
    const rows = page.getByRole('region', { name: 'Hosts', exact: true });
    await rows.getByRole('row').nth(2).hover();
    const before = (await page.getByRole('row').nth(1).getByRole('link').textContent()) ?? '';
    await label(before, { site: 'zwickau' });
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

  test('an empty fleet explains how to add hosts', async () => {
    const empty = await startSimulatedFleet(0);
    try {
      const access = accessOf(empty.kubeconfig);
      const { page } = await fixture.visit();
      await signIn(page, access.server, access.token);
      await page.getByRole('heading', { name: 'No hosts yet' }).waitFor();
      await page.getByRole('link', { name: 'Create a join command' }).click();
      await page.getByRole('button', { name: 'Create join command' }).waitFor();
    } finally {
      await empty.stop();
    }
  });
}

/** Counts the access reviews that the page requests. */
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
  /**
   * Resolves when at least `atLeast` reviews were requested since the start, all are answered, and the page has
   * rendered their results.
   */
  const answered = async (atLeast: number) => {
    await until(async () => asked >= atLeast && open === 0, { ...LIMITS, what: `${atLeast} rights` });
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  };
  return { answered };
}

async function accountToken({ api }: SimulatedFleet, name: string): Promise<string> {
  await api.request('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name } });
  const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
  return (await api.request<{ status: { token: string } }>('POST', path, { spec: {} })).status.token;
}

/** Opens the palette by its button. Asserts that Tab stays in it, and that Escape returns the focus to the button. */
async function staysInDialog(page: Page): Promise<void> {
  const opener = page.getByRole('button', { name: /^Go to…/ });
  await opener.press('Enter');
  await page.getByRole('combobox', { name: 'Go to a page' }).waitFor();
  for (const key of ['Tab', 'Tab', 'Shift+Tab']) {
    await page.keyboard.press(key);
    await page.locator('[role=dialog] :focus').waitFor();
  }
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await opener.and(page.locator(':focus')).waitFor();
}
