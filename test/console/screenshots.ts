/**
 * `npm run screenshots -- [DIRECTORY [HOSTS]] [--pages NAMES]`: pictures of every page of the console, in both themes, for desktop and
 * phone, with a fleet in which a release has failed. They are for reviewers; the two pictures of the README are in
 * `console/screenshots`.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Rollout } from '../../shared/kube/rollouts/rollout-types.js';
import { until } from '../harness/basics/wait-until.js';
import { accessOf, PHONE, signIn, startBrowser, visit } from '../harness/console/browser.js';
import { npmScript, parseScriptArguments, wholeNumber } from '../harness/processes/npm-script.js';
import { runCommand } from '../harness/simulated/simulated-actions.js';
import { type SimulatedFleet, startSimulatedFleet } from '../harness/simulated/simulated-fleet-fixture.js';

const SITES = ['berlin', 'bremen', 'hamburg', 'kiel', 'rostock'];
const ZONES = ['Europe.Berlin', 'Europe.Lisbon', 'America.New_York'];
const DAY_MS = 86_400_000;
const FLEET_API = '/apis/fleet.everynode.dev/v1/namespaces/default';
const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const MERGE = 'application/merge-patch+json';
const IN_README = new Set(['overview-dark-desk', 'rollout-light-phone']);
const SIZES = { desk: { width: 1440, height: 900 }, phone: PHONE };
const LIMITS = { timeoutMs: 120_000 };

const script = npmScript('screenshots', 'Takes pictures of every page of the console.')
  .argument('[directory]', 'where to', 'screenshots')
  .argument('[hosts]', 'number of hosts in the fleet', wholeNumber, 400);
script.option('--pages <names>', 'only these pages, comma-separated');
const {
  words: [place, nodes],
  options,
} = await parseScriptArguments<{ pages?: string }, [string, number]>(script);
const directory = resolve(place);
mkdirSync(directory, { recursive: true });
const fleet = await startSimulatedFleet(nodes);
const browser = await startBrowser();
try {
  await failARelease(fleet);
  const spec = { selector: { app: 'till' }, clusterIP: 'None', ports: [{ port: 80 }] };
  await fleet.api.request('POST', '/api/v1/namespaces/default/services', {
    metadata: { name: 'till' },
    spec,
  });
  const pods = await fleet.api.items<{ metadata: { name: string }; status: { phase: string } }>(
    '/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3Dnode-2',
  );
  const pages: [name: string, path: string, heading: string | RegExp][] = [
    ['overview', '', 'Overview'],
    ['hosts', 'hosts?group=site', 'Hosts'],
    ['host', 'hosts/node-2', 'node-2'],
    ['rollouts', 'rollouts', 'Rollouts'],
    ['rollout', 'rollouts/default/till', 'till'],
    ['daemonsets', 'daemonsets', 'DaemonSets'],
    ['daemonset', 'daemonsets/default/till', 'till'],
    ['new-daemonset', 'daemonsets/new', 'A new DaemonSet'],
    ['pod', `pods/default/${pods.items[0]?.metadata.name}`, /^till-/],
    ['services', 'services', 'Services'],
    ['service', 'services/default/till', 'till'],
    ['calendar', 'calendar', 'Schedule'],
    ['onboarding', 'onboarding', 'Add hosts'],
    ['audit', 'audit', 'Activity'],
  ];
  const only = options.pages?.split(',');
  const shown = pages.filter(([name]) => only?.includes(name) ?? true);
  const { server, token } = accessOf(fleet.kubeconfig);
  for (const theme of ['light', 'dark'] as const) {
    for (const [size, viewport] of Object.entries(SIZES)) {
      const { page, context } = await visit(browser, viewport, theme);
      await page.goto(`${server}/console/`);
      await page.getByLabel('Token').waitFor();
      await page.screenshot({ path: join(directory, `sign-in-${theme}-${size}.png`) });
      await signIn(page, server, token);
      for (const [name, path, heading] of shown) {
        await page.goto(`${server}/console/${path}`);
        await page.getByRole('heading', { level: 1, name: heading }).waitFor();
        await page.getByText('Loading').first().waitFor({ state: 'detached' });
        // The whole scrollable page, except for the README's two pictures, which show one screen.
        const fullPage = !IN_README.has(`${name}-${theme}-${size}`);
        await page.screenshot({ path: join(directory, `${name}-${theme}-${size}.png`), fullPage });
      }
      await context.close();
    }
  }
  process.stdout.write(`${directory}: ${(shown.length + 1) * 4} screenshots\n`);
} finally {
  await browser.close();
  await fleet.stop();
}

/** The failures of the first of three waves stop the release; some hosts are offline. */
async function failARelease({ api }: SimulatedFleet): Promise<void> {
  await Promise.all(
    Array.from({ length: nodes }, (_, index) => {
      const labels = { site: SITES[index % SITES.length], tz: ZONES[index % ZONES.length] };
      return api.request('PATCH', `/api/v1/nodes/node-${index + 1}`, { metadata: { labels } }, MERGE);
    }),
  );
  await api.request('POST', `${FLEET_API}/rolloutpolicies`, {
    metadata: { name: 'gentle' },
    spec: {
      selector: {},
      waves: [
        { name: 'canary', nodes: 8, soakSeconds: 600 },
        { name: 'tenth', nodes: '10%', approval: 'Manual' },
      ],
      failureBudget: { maxFailed: 2, progressDeadlineSeconds: 60 },
    },
  });
  await api.request('POST', `${FLEET_API}/rolloutpolicies`, {
    metadata: { name: 'at-night' },
    spec: {
      selector: { matchLabels: { when: 'at-night' } },
      windows: [
        { schedule: '0 3 * * *', durationSeconds: 7200, timeZoneLabel: 'tz', timeZone: 'Europe/Berlin' },
      ],
      freezes: [{ ...freezeInThreeDays(), timeZone: 'Europe/Berlin', reason: 'Christmas sales' }],
    },
  });
  const labels = { app: 'till' };
  const template = (image: string, annotations = {}) => ({
    metadata: { labels, annotations },
    spec: { containers: [{ name: 'main', image }] },
  });
  await api.request('POST', DAEMON_SETS, {
    metadata: { name: 'till' },
    spec: { selector: { matchLabels: labels }, template: template('registry.example/till:1.4.0') },
  });
  const ready = async () => {
    const found = await api.request<{ status?: { numberReady?: number } }>('GET', `${DAEMON_SETS}/till`);
    return found.status?.numberReady === nodes;
  };
  await until(ready, { ...LIMITS, what: 'all Pods ready' });
  await runCommand(fleet, `offline node-11,node-17,node-23,${hostsOfLastSite().join()}`);
  const crashing = template('registry.example/till:1.5.0', { 'simulate.everynode.dev/fail': 'true' });
  await api.request('PATCH', `${DAEMON_SETS}/till`, { spec: { template: crashing } }, MERGE);
  const failed = async () => {
    const rollout = await api.send('GET', `${FLEET_API}/rollouts/till`);
    return (rollout.body as Rollout).status?.phase === 'Failed';
  };
  await until(failed, { ...LIMITS, what: 'the release to fail' });
}

/** All hosts of one site but the first, so that the site is offline. */
function hostsOfLastSite(): string[] {
  const numbers = Array.from({ length: nodes }, (_, index) => index + 1);
  return numbers
    .filter((number) => number % SITES.length === 0)
    .slice(1)
    .map((number) => `node-${number}`);
}

function freezeInThreeDays(): { from: string; to: string } {
  const day = (ahead: number) => new Date(Date.now() + ahead * DAY_MS).toISOString().slice(0, 10);
  return { from: day(3), to: day(5) };
}
