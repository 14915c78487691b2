/**
 * Pictures of the console's pages that are the same for the same tree: text that differs between runs, such as times and
 * generated names, is replaced in the page before it is pictured.
 */
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { SimulatedFleet } from '../simulated/simulated-fleet-fixture.js';

export interface PicturedPage {
  /** Part of the file's name. */
  name: string;
  /** Path below `/console/`. */
  path: string;
  heading: string | RegExp;
}

export const PICTURE_THEMES = ['light', 'dark'] as const;

/** Half of the pixels in each direction: the references of all pages stay below 3 MB. */
export const PICTURE_OPTIONS: BrowserContextOptions = {
  deviceScaleFactor: 0.5,
  locale: 'en-GB',
  timezoneId: 'UTC',
  reducedMotion: 'reduce',
  // Styles of the pictures are added to the page.
  bypassCSP: true,
};

/** Taller than a screen, so that most of a page is in its picture. */
export const PICTURE_SIZES = {
  desk: { width: 1280, height: 1600 },
  phone: { width: 390, height: 1600 },
} as const;

export type PictureTheme = (typeof PICTURE_THEMES)[number];
export type PictureSize = keyof typeof PICTURE_SIZES;

/** Every page of the console, for a fleet that `prepareOperatorFleet` has prepared. */
export async function picturedPages({ api }: SimulatedFleet): Promise<PicturedPage[]> {
  const pods =
    '/api/v1/namespaces/default/pods?labelSelector=app%3Dsign&fieldSelector=spec.nodeName%3Dnode-2';
  const [pod] = (await api.items<{ metadata: { name: string } }>(pods)).items;
  const name = pod?.metadata.name ?? '';
  const pages: [name: string, path: string, heading: string | RegExp][] = [
    // The first: pages with forms send requests that it lists.
    ['activity', 'audit', 'Activity'],
    ['overview', '', 'Overview'],
    ['hosts', 'hosts?group=site', 'Hosts'],
    ['host', 'hosts/node-1', 'node-1'],
    ['host-offline', 'hosts/node-17', 'node-17'],
    ['daemonsets', 'daemonsets', 'DaemonSets'],
    ['daemonset', 'daemonsets/default/till', 'till'],
    ['new-daemonset', 'daemonsets/new', 'A new DaemonSet'],
    ['rollouts', 'rollouts', 'Rollouts'],
    ['rollout', 'rollouts/default/till', 'till'],
    ['pod', `pods/default/${name}`, /^sign-/],
    ['logs', `logs?pods=default/${name}`, 'Logs'],
    ['jobs', 'jobs', 'Jobs'],
    ['job', 'jobs/default/inventory', 'inventory'],
    ['new-job', 'jobs/new', /./],
    ['values', 'values', /./],
    ['values-object', 'values/default/kiel', 'kiel'],
    ['override', 'resources/fleet.everynode.dev/v1/daemonsetoverrides/shop/pilot', 'pilot'],
    ['new-values', 'values/new', /./],
    ['services', 'services', 'Services'],
    ['service', 'services/default/till', 'till'],
    ['resources', 'resources', 'Resources'],
    ['objects', 'resources/core/v1/namespaces', /./],
    ['schedule', 'calendar', 'Schedule'],
    ['onboarding', 'onboarding', 'Add hosts'],
    ['coordinators', 'coordinators', 'Coordinators'],
    ['not-found', 'nowhere', 'Page not found'],
  ];
  return pages.map(([name, path, heading]) => ({ name, path, heading }));
}

/** Opens the page and waits until it shows its data. */
export async function openPicturedPage(
  page: Page,
  server: string,
  { path, heading }: PicturedPage,
): Promise<void> {
  await page.goto(`${server}/console/${path}`);
  await page.getByRole('heading', { level: 1, name: heading }).first().waitFor();
  // Some parts load when another has its data, such as windows after policies.
  for (let round = 0; round < 2; round += 1) {
    await page.waitForLoadState('networkidle');
    await page.evaluate(QUIET);
  }
  await page
    .getByText(/^Loading/)
    .first()
    .waitFor({ state: 'detached' });
}

/** Runs in the page. Resolves when no element was added or removed for half a second. */
const QUIET = `new Promise((done) => {
  let timer = setTimeout(done, 500);
  const observer = new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(() => { observer.disconnect(); done(); }, 500);
  });
  observer.observe(document.body, { childList: true, subtree: true });
})`;

/** Returns a PNG of the page in a theme and size. */
export async function pictureOf(page: Page, theme: PictureTheme, size: PictureSize): Promise<Buffer> {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await page.setViewportSize(PICTURE_SIZES[size]);
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await page.evaluate(SHOW_STILL_COPY);
  const picture = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  await page.evaluate(REMOVE_STILL_COPY);
  return picture;
}

/** Text that differs between runs, and what is pictured in its place. */
const REPLACED: readonly [pattern: RegExp, text: string][] = [
  [/\b10(\.\d+){3}\b/g, '10.0.0.1'],
  [/\b127\.0\.0\.1:\d+/g, '127.0.0.1:6443'],
  [/\b20\d\d-\d\d-\d\d(T[\d:.]+Z)?/g, '2026-01-01'],
  [/\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)\b( 20\d\d)?/g, '1 Jan'],
  [/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b/g, 'Mon'],
  [/(?<![\d.])\d{1,2}:\d\d(:\d\d)?\b( [AP]M)?/g, '12:00'],
  [/\b(in )?\d+ (second|minute|hour|day)s?( ago)?/g, '5 minutes'],
  [/\b\d+ min \d+ s\b/g, '5 s'],
  [/\b((\d+(\.\d+)?(ms|s|m|h))+|\d+(\.\d+)? (ms|s|min))\b/g, '5 s'],
  [/\b\d+(\.\d+)? ?(B|kB|MB|GB|KiB|MiB|GiB)\b/g, '5 kB'],
  [/\b\d+(\.\d+)? ?%/g, '5 %'],
  [/\b\d+ times\b/g, '5 times'],
  // The order in which hosts get their Pods and the revision.
  [
    /\b(\d+ nodes? (is|are) updated|the first revision has nothing to replace), \d+ gets? .*? now\b/g,
    '9 get Pods',
  ],
  [/\bsystem:bootstrap:[a-z0-9]+/g, 'system:bootstrap:token'],
  // Generated names have the letters of Kubernetes' `rand.String`.
  [/\b([a-z][a-z-]*)-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])/g, '$1-xxxxx'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'uid'],
  [/\b(?=[a-z]*\d)[0-9a-f]{8,}\b/g, '123abc'],
];

/** Parts that differ between runs as a whole: charts over time, calendars, and orders that depend on fractions of a second. */
const HIDDEN = '.uplot, [style*="left:"], [aria-label="Recently joined"] tbody';

/**
 * Hosts report their load once a minute: whether a host has readings depends on the time since its start. Which Events of a
 * new host are its last depends on fractions of a second, as does the order in which a job creates its Pods.
 */
const EMPTIED =
  '[aria-label="Load"], [aria-label="Events"]:has(a[href*="tab=events"]), [aria-label="Results"] ~ [aria-label="Events"]';
const EMPTIED_HEIGHT = '8rem';

/** Rows that only some runs have: a Pod that crashes may have been ready for a moment. */
const REMOVED_ROWS = /RolloutSoaking/;
/** Rows below the picture. Their texts would decide how wide its columns are. */
const ROWS_BELOW = 'tbody tr:nth-child(n+45)';

/**
 * Runs in the page. Covers the page by a copy of its elements, in which texts are replaced: React would restore the texts
 * of the page itself.
 */
const SHOW_STILL_COPY = `{
  const replaced = [${REPLACED.map(([pattern, text]) => `[${pattern}, ${JSON.stringify(text)}]`).join()}];
  const steady = (text) => replaced.reduce((result, [pattern, by]) => result.replace(pattern, by), text);
  const root = document.getElementById('root');
  const copy = root.cloneNode(true);
  const each = (selector, act) => {
    const originals = root.querySelectorAll(selector);
    copy.querySelectorAll(selector).forEach((element, index) => act(element, originals[index]));
  };
  each('canvas', (element, original) => {
    if (original.width > 0 && original.height > 0) element.getContext('2d').drawImage(original, 0, 0);
  });
  each('select', (element, original) => { element.selectedIndex = original.selectedIndex; });
  each('textarea', (element, original) => { element.value = steady(original.value); });
  each('input', (element, original) => {
    element.checked = original.checked;
    element.value = steady(original.value);
  });
  each(${JSON.stringify(HIDDEN)}, (element) => { element.style.visibility = 'hidden'; });
  each(${JSON.stringify(ROWS_BELOW)}, (element) => element.remove());
  each(${JSON.stringify(EMPTIED)}, (element) => {
    element.replaceChildren(element.querySelector('h2'));
    element.style.minHeight = '${EMPTIED_HEIGHT}';
  });
  each('tr, li', (element) => { if (${REMOVED_ROWS}.test(element.textContent)) element.remove(); });
  const walker = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    node.nodeValue = node.parentElement.closest('time') ? '5 minutes' : steady(node.nodeValue);
  }
  copy.dataset.still = '';
  root.before(copy);
  Object.assign(root.style, { position: 'fixed', inset: '0', overflow: 'hidden', visibility: 'hidden' });
  scrollTo(0, 0);
}`;

const REMOVE_STILL_COPY = `{
  document.querySelector('[data-still]').remove();
  document.getElementById('root').removeAttribute('style');
}`;
