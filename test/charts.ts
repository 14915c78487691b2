/**
 * Installs, upgrades, rolls back and uninstalls Helm charts on a hollow fleet, each with every pinned Helm, and writes
 * the results into docs/charts.md:
 *   npm run charts -- FOLDER            # all charts
 *   npm run charts -- FOLDER NAME…      # these charts again; the results of the others stay
 *   npm run charts -- FOLDER --resume   # what an interrupted run has not done
 * FOLDER has one folder for each chart, with its dependencies, and gets `results/`. Charts are not part of this
 * repository, because they are other people's work. The values that they require are in test/fixtures/charts.
 */
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chartDocument } from './harness/charts/chart-document.js';
import { type ChartCase, chartCases } from './harness/charts/chart-folder.js';
import { type ChartOutcome, outcomeText } from './harness/charts/chart-outcome.js';
import { ChartResults } from './harness/charts/chart-results.js';
import { cleanUpChart, runChart } from './harness/charts/chart-run.js';
import { CLIENT_NAMES, type ClientName, clientBinary } from './harness/clients/client-binaries.js';
import { createHelm } from './harness/clients/helm.js';
import { createKubectl } from './harness/clients/kubectl.js';
import { npmScript, parseScriptArguments, wholeNumber } from './harness/processes/npm-script.js';
import { type SimulatedFleet, startSimulatedFleet } from './harness/simulated/simulated-fleet-fixture.js';

const DOCUMENT = resolve(dirname(fileURLToPath(import.meta.url)), '../../docs/charts.md');
const DEFAULT_HOSTS = 20;
const HELMS = CLIENT_NAMES.filter((name) => name.startsWith('helm-'));

/** Runs one case on the fleet, and cleans up. */
async function runCase(fleet: SimulatedFleet, client: ClientName, chart: ChartCase): Promise<ChartOutcome> {
  const helm = createHelm(fleet.kubeconfig, clientBinary(client));
  const kubectl = createKubectl(fleet.kubeconfig);
  try {
    const outcome = await runChart(fleet, { helm, kubectl }, chart);
    await cleanUpChart(fleet, helm, chart);
    return outcome;
  } finally {
    helm.remove();
    kubectl.remove();
  }
}

/** A case that leaves the fleet unclean fails, and the next case gets another fleet. */
async function runAll(
  cases: readonly ChartCase[],
  results: ChartResults,
  { hosts, resume }: { hosts: number; resume?: boolean },
): Promise<void> {
  let fleet: SimulatedFleet | undefined;
  for (const chart of cases) {
    for (const helm of HELMS) {
      if (resume && results.has(chart, helm)) continue;
      fleet ??= await startSimulatedFleet(hosts);
      let outcome: ChartOutcome;
      try {
        outcome = await runCase(fleet, helm, chart);
      } catch (error) {
        outcome = { kind: 'failed', step: 'preparation or cleaning up', error: String(error) };
        await fleet.stop();
        fleet = undefined;
      }
      const { name, version } = chart;
      results.add({ chart: chart.chart, name, version, helm, outcome });
      process.stdout.write(`${helm} ${name} ${version}: ${outcomeText(outcome)}\n`);
    }
  }
  await fleet?.stop();
}

const { options, words } = await parseScriptArguments<
  { hosts: number; resume?: boolean },
  [string, string[]]
>(
  npmScript('charts', 'Installs public Helm charts on a hollow fleet and writes docs/charts.md.')
    .argument('<folder>', 'one folder for each chart')
    .argument('[names...]', 'run only these charts or cases, and keep the other results')
    .option('--hosts <number>', 'hollow hosts', wholeNumber, DEFAULT_HOSTS)
    .option('--resume', 'run only what has no result'),
);
const [folder, names] = words;
const cases = chartCases(resolve(folder));
const results = new ChartResults(join(resolve(folder), 'results'));
const unknown = names.filter((each) => !cases.some(({ name, chart }) => each === name || each === chart));
if (unknown.length > 0) {
  process.stderr.write(`no such chart in ${folder}: ${unknown.join(', ')}\n`);
  process.exit(2);
}
const isChosen = ({ name, chart }: ChartCase): boolean =>
  names.length === 0 || names.includes(name) || names.includes(chart);
if (names.length === 0 && !options.resume) results.clear();
await runAll(cases.filter(isChosen), results, options);
writeFileSync(
  DOCUMENT,
  chartDocument(cases, results.all(), { helms: [...HELMS].sort(), hosts: options.hosts }),
);
