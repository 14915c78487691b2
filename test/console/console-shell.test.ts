/** The frame around all pages of the console: loading, failures, titles and unsaved edits, in a real browser. */
import assert from 'node:assert/strict';
import { request } from 'node:https';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../harness/basics/wait-until.js';
import { signIn, violationsOf } from '../harness/console/browser.js';
import { ConsoleFixture, describeInBrowser } from '../harness/console/console-fixture.js';
import { applyEverywhere } from '../harness/simulated/simulated-actions.js';

describeInBrowser('the frame of the console', suite);

/** Requests that a page makes for a script that is loaded on demand. */
const SCRIPT = /\/console\/services-page-[A-Z0-9]+\.js$/;

function suite(): void {
  const fixture = new ConsoleFixture(1);

  before(() => applyEverywhere(fixture.fleet, 'till'));

  test('every page has a title that names it', async () => {
    const page = await fixture.signedIn('daemonsets/default/till');
    await page.getByRole('heading', { name: 'till', level: 1 }).waitFor();
    await titled(page, 'till – DaemonSets – Everynode');
    await page.getByRole('link', { name: 'Rollouts' }).click();
    await page.getByRole('heading', { name: 'Rollouts' }).waitFor();
    await titled(page, 'Rollouts – Everynode');
  });

  test('a slow link shows a heading before the script is there', async () => {
    const { page } = await fixture.visit();
    let load = (): void => undefined;
    const mayLoad = new Promise<void>((resolve) => {
      load = resolve;
    });
    await page.route(/\/console\/console-app-[A-Z0-9]+\.js$/, async (route) => {
      await mayLoad;
      await route.continue();
    });
    await page.goto(`${fixture.access.server}/console/`, { waitUntil: 'commit' });
    await page.getByRole('heading', { name: 'Everynode' }).waitFor();
    await page.getByText('Loading…').waitFor();
    assert.equal(await page.getByLabel('Token').count(), 0);
    load();
    await page.getByLabel('Token').waitFor();
    await titled(page, 'Sign in – Everynode');
  });

  test('a sign-in that the coordinator does not answer is an error, and is not repeated by the tests', async () => {
    const { page } = await fixture.visit();
    let requests = 0;
    await page.route('**/console/session', (route) => {
      requests += 1;
      return route.abort('connectionreset');
    });
    await assert.rejects(signIn(page, fixture.access.server, fixture.access.token), /ERR_CONNECTION_RESET/);
    await page.getByRole('alert').getByText('the coordinator is unreachable').waitFor();
    assert.equal(requests, 1);
  });

  test('a page that was opened during a failover asks again by itself who the user is', async () => {
    const page = await fixture.signedIn('services');
    const review = /\/selfsubjectreviews$/;
    await page.route(review, (route) => route.abort());
    await page.reload();
    await page.getByText('The coordinator is unreachable.').waitFor();
    await page.unroute(review);
    await page.getByRole('heading', { name: 'Services' }).waitFor();
  });

  test('a page whose script cannot be loaded keeps the navigation, and appears when the coordinator is back', async () => {
    const page = await fixture.signedIn('');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const scripts = /\/console\/services-page|\/console\/command-palette/;
    const health = /\/livez$/;
    for (const path of [scripts, health]) await page.route(path, (route) => route.abort());
    await page.keyboard.press('Control+k');
    await page.getByRole('link', { name: 'Services' }).click();
    await page.getByText('The coordinator is unreachable. Hosts keep running.').waitFor();
    assert.equal(await page.getByRole('navigation', { name: 'Main' }).count(), 1);
    // In this order: a script that fails while the coordinator answers reloads the page, without the palette.
    await page.unroute(scripts);
    await page.getByRole('dialog', { name: 'Go to' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Services' }).waitFor();
    await page.unroute(health);
    await page
      .getByText('The coordinator is unreachable. Hosts keep running.')
      .waitFor({ state: 'detached' });
  });

  test('a script that an upgrade removed is said to be gone after one reload', async () => {
    const page = await fixture.signedIn('');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    await page.route(SCRIPT, (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Services' }).click();
    await page.getByRole('heading', { name: 'This page has failed' }).waitFor();
    await until(() => loads === 1, { what: 'the event of the reload' });
    await page.getByRole('link', { name: 'Schedule' }).click();
    await page.getByRole('heading', { name: 'Schedule' }).waitFor();
  });

  test('an edit that is not saved is dropped only if the user says so', async () => {
    const page = await fixture.signedIn('daemonsets');
    await page.getByRole('link', { name: 'till' }).click();
    await page.getByRole('link', { name: 'Manifest' }).click();
    await page.getByRole('button', { name: 'Edit manifest' }).click();
    await page.getByRole('textbox', { name: 'Manifest as YAML' }).press('x');
    const leave = () => page.getByRole('link', { name: 'Schedule' }).click();
    await answer(page, false, leave);
    await page.waitForURL(/daemonsets\/default\/till/);
    await answer(page, false, () => page.goBack({ waitUntil: 'commit' }));
    await page.waitForURL(/daemonsets\/default\/till/);
    await page.getByRole('textbox', { name: 'Manifest as YAML' }).waitFor();
    await answer(page, true, leave);
    await page.getByRole('heading', { name: 'Schedule' }).waitFor();
  });

  test('Back removes the last filter of the fleet, and restores the selection of the list', async () => {
    const page = await fixture.signedIn('hosts');
    await page.getByRole('button', { name: /Healthy/ }).click();
    await page.waitForURL(/condition=healthy/);
    await page.goBack({ waitUntil: 'commit' });
    await page.waitForURL((url) => !url.search.includes('condition'));
    await page.getByRole('heading', { name: 'Hosts' }).waitFor();
    await page.getByRole('checkbox', { name: 'Select node-1', exact: true }).check();
    await page.getByText('1 host selected').waitFor();
    await page.getByRole('link', { name: 'node-1', exact: true }).first().click();
    await page.getByRole('heading', { name: 'node-1' }).waitFor();
    await page.goBack({ waitUntil: 'commit' });
    await page.getByText('1 host selected').waitFor();
    await page.getByRole('link', { name: 'Services' }).click();
    await page.getByRole('link', { name: 'Hosts' }).first().click();
    await page.getByRole('heading', { name: 'Hosts' }).waitFor();
    assert.equal(await page.getByText('1 host selected').count(), 0, 'a link opens the list anew');
  });

  test('an edit that was discarded or not begun is not asked about', async () => {
    const page = await fixture.signedIn('daemonsets/default/till?edit=manifest');
    await page.getByRole('textbox', { name: 'Manifest as YAML' }).press('x');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    page.on('dialog', (dialog) => assert.fail(`the page asks: ${dialog.message()}`));
    await page.getByRole('link', { name: 'Schedule' }).click();
    await page.getByRole('heading', { name: 'Schedule' }).waitFor();
  });

  test('the language of the menu is kept, and that of the browser is the first', async () => {
    const { page } = await fixture.visit(undefined, undefined, { locale: 'de-DE' });
    await page.goto(`${fixture.access.server}/console/`);
    await page.getByRole('button', { name: 'Anmelden', exact: true }).waitFor();
    await page.getByLabel('Sprache').selectOption('zh-Hans');
    await page.getByLabel('令牌').fill(fixture.access.token);
    await page.getByRole('button', { name: '登录', exact: true }).click();
    await page.getByRole('link', { name: '主机', exact: true }).click();
    await page.getByRole('heading', { name: '主机', level: 1 }).waitFor();
    await page.getByRole('columnheader', { name: '名称' }).waitFor();
    await titled(page, '主机 – Everynode');
    await page.reload();
    await page.getByRole('heading', { name: '主机', level: 1 }).waitFor();
    await page.locator('html[lang="zh-Hans"]').waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.getByText('设置', { exact: true }).first().click();
    await page.getByLabel('语言').first().selectOption('en');
    await page.getByRole('heading', { name: 'Hosts', level: 1 }).waitFor();
  });

  test('rows are as high as the user chose, and 44 pixels for a finger', async () => {
    const page = await fixture.signedIn('hosts');
    await page.getByText('Settings', { exact: true }).first().click();
    await page.getByLabel('Rows').first().selectOption('compact');
    await hasRowsOf(page, 32);
    await page.reload();
    await hasRowsOf(page, 32);
    const touch = await fixture.signedIn('hosts', { hasTouch: true, isMobile: true });
    await hasRowsOf(touch, 44);
    const button = touch.getByRole('button', { name: 'Copy' }).first();
    assert.ok(((await button.boundingBox())?.height ?? 0) >= 44);
  });

  test('the font is the one of the coordinator', async () => {
    const page = await fixture.signedIn('');
    const loaded = `[...document.fonts].some(({ family, status }) => /Inter Variable/.test(family) && status === 'loaded')`;
    await until(() => page.evaluate(loaded), { what: 'the font to load' });
  });

  test('files are sent compressed to browsers that accept it', async () => {
    const [script = ''] = /\/console\/console-app-[A-Z0-9]+\.js/.exec(await fetchText('/console/', '')) ?? [];
    const [plain, small] = await Promise.all([fetchBytes(script, ''), fetchBytes(script, 'br')]);
    assert.ok(small < plain / 3, `${small} of ${plain} bytes`);
  });

  async function hasRowsOf(page: Page, pixels: number): Promise<void> {
    const height = `Math.round(document.querySelector('tbody td')?.getBoundingClientRect().height ?? 0)`;
    await until(async () => (await page.evaluate(height)) === pixels, { what: `rows of ${pixels} pixels` });
  }

  async function fetchBytes(path: string, encoding: string): Promise<number> {
    return (await download(path, encoding)).length;
  }

  async function fetchText(path: string, encoding: string): Promise<string> {
    return (await download(path, encoding)).toString();
  }

  function download(path: string, encoding: string): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const headers = { 'accept-encoding': encoding };
      const sent = request(
        `${fixture.access.server}${path}`,
        { headers, rejectUnauthorized: false },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('end', () => resolve(Buffer.concat(parts)));
        },
      );
      sent.on('error', reject).end();
    });
  }
}

/** Waits for the title of the tab. React sets it after the page's content. */
function titled(page: Page, title: string): Promise<unknown> {
  return until(async () => (await page.title()) === title, { timeoutMs: 60_000, what: title });
}

/** Performs the action, and answers the question that it must cause. */
async function answer(page: Page, isYes: boolean, act: () => Promise<unknown>): Promise<void> {
  const asked = page.waitForEvent('dialog').then((dialog) => (isYes ? dialog.accept() : dialog.dismiss()));
  await Promise.all([asked, act()]);
}
