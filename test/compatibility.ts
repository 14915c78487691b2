/**
 * Runs the tests of real clients and writes the results into the table of clients in
 * docs/differences-from-kubernetes.md:
 *   npm run compatibility
 * A test belongs to every client that its own name or its group's name mentions.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { run } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLIENT_NAMES } from './harness/clients/client-binaries.js';
import { TABLE_BEGIN, TABLE_END } from './harness/clients/compatibility-table.js';
import { npmScript, parseScriptArguments } from './harness/processes/npm-script.js';

const DIST = dirname(fileURLToPath(import.meta.url));
const DOCUMENT = resolve(DIST, '../../docs/differences-from-kubernetes.md');
const FILES = [
  'kubectl/kubectl',
  'kubectl/explain-kubectl',
  'kubectl/openapi-v2-kubectl',
  'kubectl/unsupported-kinds-kubectl',
  'chart-shapes',
  'kubectl/server-side-apply-kubectl',
  'helm',
  'helm-refused-charts',
];

interface Count {
  passed: number;
  failed: number;
}

/** Passed and failed tests by client. */
async function runClients(): Promise<Map<string, Count>> {
  const counts = new Map<string, Count>(CLIENT_NAMES.map((name) => [name, { passed: 0, failed: 0 }]));
  const files = FILES.map((name) => join(DIST, 'clients', `${name}.test.js`));
  /** Names of the groups around the test that is reported next, outermost first. */
  const groups: string[] = [];
  const count = (event: { name: string; nesting: number; details: { type?: string } }, key: keyof Count) => {
    if (event.details.type === 'suite') return;
    const path = [...groups.slice(0, event.nesting), event.name].join(' ');
    for (const name of CLIENT_NAMES.filter((client) => path.includes(client))) {
      const sum = counts.get(name);
      if (sum) sum[key] += 1;
    }
  };
  const stream = run({ files, concurrency: 1, timeout: 15 * 60_000 });
  stream.on('test:start', ({ name, nesting }) => void groups.splice(nesting, groups.length, name));
  stream.on('test:pass', (event) => event.skip === undefined && count(event, 'passed'));
  stream.on('test:fail', (event) => count(event, 'failed'));
  for await (const _ of stream);
  return counts;
}

function table(counts: ReadonlyMap<string, Count>): string {
  const rows = [...counts].map(([name, { passed, failed }]) => {
    const [program, version] = name.split('-');
    return `| ${program} | ${version} | ${passed + failed} | ${passed} |`;
  });
  return ['| client | version | tests | passed |', '|---|---|---|---|', ...rows].join('\n');
}

await parseScriptArguments(
  npmScript(
    'compatibility',
    'Runs the tests of real clients and writes what passed into docs/differences-from-kubernetes.md.',
  ),
);
const counts = await runClients();
const text = readFileSync(DOCUMENT, 'utf8');
const [before = '', rest = ''] = text.split(TABLE_BEGIN);
const after = rest.slice(rest.indexOf(TABLE_END));
writeFileSync(DOCUMENT, `${before}${TABLE_BEGIN}\n${table(counts)}\n${after}`);
process.stdout.write(`${table(counts)}\n`);
process.exitCode = [...counts.values()].some(({ passed, failed }) => failed > 0 || passed === 0) ? 1 : 0;
