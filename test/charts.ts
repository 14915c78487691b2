/**
 * Installs, upgrades, rolls back and uninstalls Helm charts on a hollow fleet, each with every pinned Helm, and writes
 * the results into docs/charts.md:
 *   npm run charts -- DIRECTORY
 * DIRECTORY has one folder for each chart, with its dependencies. `NAME.values.yaml` beside it has the values that the
 * chart requires. Charts are not part of this repository, because they are other people's work.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { KubeObject } from '../shared/kube/objects/meta.js';
import { until } from './harness/basics/wait-until.js';
import { CLIENT_NAMES, clientBinary } from './harness/clients/client-binaries.js';
import { createHelm, type Helm } from './harness/clients/helm.js';
import { npmScript, parseScriptArguments, wholeNumber } from './harness/processes/npm-script.js';
import { type SimulatedFleet, startSimulatedFleet } from './harness/simulated/simulated-fleet-fixture.js';

const DOCUMENT = resolve(dirname(fileURLToPath(import.meta.url)), '../../docs/charts.md');
const DEFAULT_HOSTS = 20;
const WAIT = '--wait --timeout 90s';
/** A namespace ends when its objects have ended. */
const NAMESPACE_TIMEOUT_MS = 60_000;
const MAX_ERROR_LENGTH = 300;
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Chart {
  name: string;
  version: string;
  path: string;
  /** Flags with the chart's values file, if it has one. */
  values: string;
}

/** `step` is the step that failed. */
type Outcome = { ok: true } | { ok: false; step: string; error: string };

interface Result {
  chart: Chart;
  helm: string;
  outcome: Outcome;
}

function chartsOf(directory: string): Chart[] {
  const names = readdirSync(directory).filter((name) => existsSync(join(directory, name, 'Chart.yaml')));
  return names.sort().map((name) => {
    const path = join(directory, name);
    const { version } = parse(readFileSync(join(path, 'Chart.yaml'), 'utf8')) as { version: string };
    const values = join(directory, `${name}.values.yaml`);
    return { name, version, path, values: existsSync(values) ? `-f ${values}` : '' };
  });
}

/** Runs the life of a release. Stops at the first step that fails. */
async function runChart(helm: Helm, { name, path, values }: Chart): Promise<Outcome> {
  const release = `${name} -n ${name}`;
  const steps = {
    install: `install ${name} ${path} -n ${name} --create-namespace ${values} ${WAIT}`,
    upgrade: `upgrade ${name} ${path} -n ${name} ${values} ${WAIT}`,
    rollback: `rollback ${release} 1 ${WAIT}`,
    uninstall: `uninstall ${release} ${WAIT}`,
  };
  for (const [step, command] of Object.entries(steps)) {
    const { code, stderr } = await helm.run(command.replaceAll(/ +/g, ' '));
    if (code !== 0) return { ok: false, step, error: lastError(stderr) };
  }
  return { ok: true };
}

/** Returns Helm's error without its warnings, on one line. */
function lastError(stderr: string): string {
  const from = stderr.lastIndexOf('Error: ');
  const text = (from < 0 ? stderr : stderr.slice(from)).replaceAll(/\s+/g, ' ').trim();
  return text.length > MAX_ERROR_LENGTH ? `${text.slice(0, MAX_ERROR_LENGTH)}…` : text;
}

/** Removes what a release leaves: a failed release, its namespace, and the CustomResourceDefinitions, as Helm does not. */
async function cleanUp({ api }: SimulatedFleet, helm: Helm, { name }: Chart): Promise<void> {
  await helm.run(`uninstall ${name} -n ${name} --no-hooks --ignore-not-found`);
  const crds = await api.items<KubeObject>(CRDS).then(
    ({ items }) => items,
    () => [],
  );
  for (const { metadata } of crds) await api.request('DELETE', `${CRDS}/${metadata.name}`);
  await api.request('DELETE', `/api/v1/namespaces/${name}`).catch(() => undefined);
  await until(
    async () => {
      const { items } = await api.items<KubeObject>('/api/v1/namespaces');
      return !items.some(({ metadata }) => metadata.name === name);
    },
    { timeoutMs: NAMESPACE_TIMEOUT_MS, what: `end of the namespace ${name}` },
  );
}

function table(results: readonly Result[]): string {
  const helms = [...new Set(results.map(({ helm }) => helm))];
  const charts = [...new Map(results.map(({ chart }) => [chart.name, chart])).values()];
  const cell = (chart: Chart, helm: string) => {
    const outcome = results.find(
      (result) => result.chart.name === chart.name && result.helm === helm,
    )?.outcome;
    if (!outcome) return 'not run';
    return outcome.ok ? 'passed' : `${outcome.step}: ${outcome.error.replaceAll('|', '\\|')}`;
  };
  const rows = charts.map(
    (chart) => `| ${chart.name} | ${chart.version} | ${helms.map((helm) => cell(chart, helm)).join(' | ')} |`,
  );
  return [
    `| chart | version | ${helms.join(' | ')} |`,
    `|---|---|${helms.map(() => '---|').join('')}`,
    ...rows,
  ].join('\n');
}

function documentText(results: readonly Result[], hosts: number): string {
  const charts = new Set(results.map(({ chart }) => chart.name)).size;
  const failed = new Set(results.filter(({ outcome }) => !outcome.ok).map(({ chart }) => chart.name)).size;
  return `# Public charts

<!-- written by npm run charts -->

Helm charts of other projects, unmodified, on ${hosts} hollow hosts: installed with \`--wait\`, upgraded, rolled back and
uninstalled. A hollow host starts no program, so this shows that the objects are accepted and that their Pods become
ready, not that the programs work. ${charts - failed} of ${charts} charts passed every step.

${table(results)}
`;
}

const { options, words } = await parseScriptArguments<{ hosts: number; only?: string }, [string]>(
  npmScript('charts', 'Installs public Helm charts on a hollow fleet and writes docs/charts.md.')
    .argument('<directory>', 'one folder for each chart')
    .option('--hosts <number>', 'hollow hosts', wholeNumber, DEFAULT_HOSTS)
    .option('--only <name>', 'run one chart, and do not write the document'),
);
const [directory] = words;
const charts = chartsOf(resolve(directory)).filter(({ name }) => !options.only || name === options.only);
const fleet = await startSimulatedFleet(options.hosts);
const results: Result[] = [];
try {
  for (const client of CLIENT_NAMES.filter((name) => name.startsWith('helm-'))) {
    const helm = createHelm(fleet.kubeconfig, clientBinary(client));
    for (const chart of charts) {
      const outcome = await runChart(helm, chart);
      results.push({ chart, helm: client, outcome });
      const text = outcome.ok ? 'passed' : `${outcome.step}: ${outcome.error}`;
      process.stdout.write(`${client} ${chart.name} ${chart.version}: ${text}\n`);
      await cleanUp(fleet, helm, chart);
    }
    helm.remove();
  }
} finally {
  await fleet.stop();
}
if (!options.only) writeFileSync(DOCUMENT, documentText(results, options.hosts));
const passed = results.filter(({ outcome }) => outcome.ok).length;
process.stdout.write(`${passed} passed, ${results.length - passed} failed\n`);
