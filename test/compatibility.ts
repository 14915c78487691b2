/**
 * Runs the tests of real clients and writes the results into docs/clients.md:
 *   npm run compatibility
 *   npm run compatibility -- --rounds 2000    only the rounds of the Python client, on each supported Node
 * A test belongs to every client that its own name or its group's name mentions, or that its file is about.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLIENT_NAMES } from './harness/clients/client-binaries.js';
import { ROUNDS_BEGIN, ROUNDS_END, roundsTable, runRounds } from './harness/clients/client-rounds.js';
import {
  type ClientRun,
  clientTable,
  EXPECTED_CLIENTS,
  TABLE_BEGIN,
  TABLE_END,
} from './harness/clients/compatibility-table.js';
import { KUBECTLS_VARIABLE } from './harness/clients/each-kubectl.js';
import { findKubectl, kubectlMinor } from './harness/clients/kubectl.js';
import { npmScript, parseScriptArguments, wholeNumber } from './harness/processes/npm-script.js';

const DIST = dirname(fileURLToPath(import.meta.url));
const DOCUMENT = resolve(DIST, '../../docs/clients.md');
const JAVASCRIPT = '@kubernetes/client-node-1.4';
/** Assertions of upstream's e2e tests, with the kubectl that runs them as the version. */
const UPSTREAM = `upstream-e2e-kubectl 1.${kubectlMinor(findKubectl())}`;
const UPSTREAM_TITLE = "assertions of upstream's e2e tests, with the documented deviations";
const FILES = [
  'kubectl/kubectl',
  'kubectl/explain-kubectl',
  'kubectl/openapi-v2-kubectl',
  'kubectl/unsupported-kinds-kubectl',
  'chart-shapes',
  'kubectl/server-side-apply-kubectl',
  'helm',
  'helm-refused-charts',
  'javascript-client',
  'others/older-kubectl',
  'others/python-client',
  'others/ansible',
  'others/mcp-server',
  'others/fluent-client',
  'others/dot-i-operator',
  'others/cdk8s',
  'others/kubecolor',
  'others/kubetail',
  'others/terraform-state',
  'upstream-e2e/upstream-e2e',
];

interface TestEvent {
  name: string;
  nesting: number;
  file?: string;
  skip?: string | boolean;
  details: { type?: string; error?: Error };
}

/** Names of the clients that a test belongs to. */
function clientsOf(path: readonly string[], file = ''): string[] {
  // Other tests of the file are about the list of assertions.
  if (file.endsWith('upstream-e2e.test.js')) return /\(test\/e2e\//.test(path.join(' ')) ? [UPSTREAM] : [];
  const named = CLIENT_NAMES.filter((client) => path.join(' ').includes(client));
  if (named.length > 0) return named;
  if (file.endsWith('javascript-client.test.js')) return [JAVASCRIPT];
  const other = / by (\S+)$/.exec(path[0] ?? '')?.[1];
  return other === undefined ? [] : [other];
}

/** What ran, by client. */
async function runClients(): Promise<Map<string, ClientRun>> {
  const runs = new Map<string, ClientRun>();
  const files = FILES.map((name) => join(DIST, 'clients', `${name}.test.js`));
  /** Names of the groups around the test that is reported next, outermost first. */
  const groups: string[] = [];
  const count = (event: TestEvent, isPassed: boolean) => {
    // The parent of reported checks is no check of its own, unless the client itself failed.
    const failure = event.details.error as { failureType?: string } | undefined;
    const isParent = event.name === 'the client' && (isPassed || failure?.failureType === 'subtestsFailed');
    if (event.details.type === 'suite' || isParent) return;
    const path = [...groups.slice(0, event.nesting), event.name];
    for (const name of clientsOf(path, event.file)) {
      const sum = runs.get(name) ?? { what: new Set(), passed: 0, failed: [], skipped: undefined };
      runs.set(name, sum);
      if (event.skip !== undefined) sum.skipped = String(event.skip);
      else if (isPassed) sum.passed += 1;
      else sum.failed.push(event.name);
      sum.what.add(name === UPSTREAM ? UPSTREAM_TITLE : (path[0] ?? '').replace(/ by \S+$/, ''));
    }
  };
  process.env[KUBECTLS_VARIABLE] = 'all';
  const stream = run({ files, concurrency: 1, timeout: 15 * 60_000 });
  stream.on('test:start', ({ name, nesting }) => void groups.splice(nesting, groups.length, name));
  stream.on('test:pass', (event) => count(event as TestEvent, true));
  stream.on('test:fail', (event) => count(event as TestEvent, false));
  for await (const _ of stream);
  return runs;
}

/** Replaces the text between two lines of docs/clients.md. */
function writeSection(begin: string, end: string, section: string): void {
  const text = readFileSync(DOCUMENT, 'utf8');
  const [before = '', rest = ''] = text.split(begin);
  const after = rest.slice(rest.indexOf(end));
  writeFileSync(DOCUMENT, `${before}${begin}\n${section}\n${after}`);
  process.stdout.write(`${section}\n`);
}

/** Returns true if every client ran and passed. */
async function writeClients(): Promise<boolean> {
  const runs = await runClients();
  writeSection(TABLE_BEGIN, TABLE_END, clientTable(runs));
  const isMissing = EXPECTED_CLIENTS.some(
    (client) => ![...runs.keys()].some((name) => name.startsWith(client)),
  );
  return !isMissing && [...runs.values()].every(({ failed, passed }) => failed.length === 0 && passed > 0);
}

/** Returns true if no round was refused. */
async function writeRounds(rounds: number): Promise<boolean> {
  const results = await runRounds(rounds);
  writeSection(ROUNDS_BEGIN, ROUNDS_END, roundsTable(results));
  return results.every(({ passed }) => passed);
}

const script = npmScript(
  'compatibility',
  'Runs the tests of real clients and writes the results into docs/clients.md.',
).option(
  '--rounds <N>',
  'instead, list-and-patch rounds of the Python client on each supported Node',
  wholeNumber,
);
const { rounds } = (await parseScriptArguments<{ rounds?: number }>(script)).options;
process.exitCode = (await (rounds === undefined ? writeClients() : writeRounds(rounds))) ? 0 : 1;
