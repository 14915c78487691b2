/** A real browser for tests of the console: Debian's chromium, driven by playwright. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request,
} from 'playwright-core';
import { parse } from 'yaml';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const UNANSWERED = /Failed to load resource|^WebSocket connection to .* failed/;
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const DESK = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** Returns a time zone in which it is noon: "today" then covers the whole test, also at midnight. */
export function noonZone(now: Date): string {
  const offset = 12 - now.getUTCHours();
  // These names have the opposite sign.
  return `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
}

/** Returns the reason why this machine has no browser, or undefined. */
export function whyNoBrowser(): string | undefined {
  return existsSync(CHROMIUM) ? undefined : `needs ${CHROMIUM} (see .ci/packages)`;
}

/** Starts the browser. The caller must close it. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** A page in a browser window. `problems` collects script errors and violations of the CSP. */
export interface Visit {
  context: BrowserContext;
  page: Page;
  problems: string[];
}

/** Opens an empty page that trusts the test's certificate. */
export async function visit(
  browser: Browser,
  viewport: { width: number; height: number } = DESK,
  colorScheme: 'light' | 'dark' = 'light',
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport, colorScheme, ...options });
  const page = await context.newPage();
  goDespiteOtherNetworks(page);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    // The browser logs a rejected request as an error, although the page shows it. A missing response is a problem.
    if (message.type() === 'error' && !UNANSWERED.test(message.text())) {
      problems.push(message.text());
    }
  });
  return { context, page, problems };
}

/** Returns server and token of a kubeconfig. */
export function accessOf(kubeconfig: string): { server: string; token: string } {
  const config = parse(kubeconfig) as {
    clusters: { cluster: { server: string } }[];
    users: { user: { token: string } }[];
  };
  return {
    server: config.clusters[0]?.cluster.server ?? '',
    token: config.users[0]?.user.token ?? '',
  };
}

/**
 * Types the token like a user. Resolves when the session exists. Repeats a request that a changed network has cut off, and
 * rejects after any other failure: a coordinator that loses sign-ins must not pass.
 */
export async function signIn(page: Page, server: string, token: string, path = ''): Promise<void> {
  await page.goto(`${server}/console/${path}`);
  await page.getByLabel('Token').fill(token);
  const shell = page.getByRole('navigation', { name: 'Main' }).first();
  for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
    const failed = failureOf(page, '/console/session');
    await page.getByRole('button', { name: 'Sign in' }).click();
    const shown = shell.waitFor().then(() => undefined);
    // Its timeout is no error after another attempt has succeeded.
    shown.catch(() => undefined);
    const error = await Promise.race([failed, shown]);
    if (error === undefined) return;
    if (!error.includes(CUT)) throw new Error(`the request to sign in failed: ${error}`);
  }
  throw new Error(`each of ${MOST_TRIES} sign-ins was cut off`);
}

/** Resolves when the next request of the path fails, with the browser's error. Never settles otherwise. */
function failureOf(page: Page, path: string): Promise<string> {
  return new Promise((resolve) => {
    const see = (request: Request) => {
      if (new URL(request.url()).pathname !== path) return;
      page.off('requestfailed', see);
      resolve(request.failure()?.errorText ?? '');
    };
    page.on('requestfailed', see);
  });
}

/** Returns axe-core's violations of WCAG 2.2 AA, one per line. */
export async function violationsOf(page: Page): Promise<string[]> {
  // A button that is half below a sticky header counts as too small.
  await page.evaluate('scrollTo(0, 0)');
  await page.evaluate(AXE);
  const found = (await page.evaluate(`axe.run(document, { runOnly: ${JSON.stringify(RULES)} })`)) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return found.violations.map(
    ({ id, nodes }) => `${page.url()} ${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
}

/** Returns what is wider than the window: the page itself, and tables that scroll sideways. */
export async function tooWideOf(page: Page): Promise<string[]> {
  return (await page.evaluate(TOO_WIDE)) as string[];
}

/** Runs in the page. Rounded widths can differ by a pixel. */
const TOO_WIDE = `[document.documentElement, ...document.querySelectorAll('main section:has(table)')]
  .filter((element) => element.scrollWidth > element.clientWidth + 1)
  .map((element) => (element.ariaLabel ?? 'the page') + ' is ' + element.scrollWidth + ' px wide')`;

const MOST_TRIES = 10;
const CUT = 'ERR_NETWORK_CHANGED';

/**
 * Concurrent tests create networks, and Chromium aborts its requests whenever this machine gets another address. The
 * console loads its stylesheet again by itself, but without its script it cannot.
 */
function goDespiteOtherNetworks(page: Page): void {
  const go = page.goto.bind(page);
  let isCut = false;
  page.on('requestfailed', (request) => {
    isCut ||= request.resourceType() === 'script' && (request.failure()?.errorText.includes(CUT) ?? false);
  });
  page.goto = async (...where) => {
    for (let tries = 1; ; tries += 1) {
      isCut = false;
      try {
        const answered = await go(...where);
        if (!isCut || tries >= MOST_TRIES) return answered;
      } catch (error) {
        if (!wasCut(String(error), tries) || tries >= MOST_TRIES) throw error;
      }
    }
  };
}

/** After a request that was cut off, the browser shows an error page and reloads it. Both interrupt the next attempt. */
function wasCut(error: string, tries: number): boolean {
  const isInterrupted = error.includes('interrupted by another navigation');
  return error.includes(CUT) || (isInterrupted && (tries > 1 || error.includes('chrome-error:')));
}
