/** Many list-and-patch rounds of the Python client on each supported Node, for `npm run compatibility -- --rounds N`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export const ROUNDS_BEGIN = '<!-- rounds: written by npm run compatibility -- --rounds -->';
export const ROUNDS_END = '<!-- end of rounds -->';

const PROJECT = resolve(import.meta.dirname, '../../../..');
const ROUNDS_TIMEOUT_MS = 30 * 60_000;

/** The rounds that ran on one Node. */
export interface RoundsResult {
  node: string;
  rounds: number;
  seconds: number;
  passed: boolean;
}

/** One Node, and the file that each of its processes loads first. */
interface NodeInstallation {
  binary: string;
  preload?: string;
}

/** What release/node-binary.mjs exports. */
interface NodeReleases {
  NEWEST_COORDINATOR_NODE: string;
  OWN_ARCHITECTURE: string;
  nodeFolder(architecture: string, version: string): string;
}

/** Compiles better-sqlite3 for the Node in `folder`, unless that is done. Returns the path of the addon. */
function compiledAddon(folder: string, version: string): string {
  const source = join(PROJECT, 'node_modules/better-sqlite3');
  const own = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string };
  const target = join(homedir(), '.cache/everynode-test', `better-sqlite3-${own.version}-node-${version}`);
  const addon = join(target, 'build/Release/better_sqlite3.node');
  if (existsSync(addon)) return addon;
  const work = `${target}.new`;
  rmSync(work, { recursive: true, force: true });
  cpSync(source, work, { recursive: true, filter: (path) => path !== join(source, 'build') });
  const npm = execFileSync('npm', ['root', '-g'], { encoding: 'utf8' }).trim();
  const compiler = join(npm, 'npm/node_modules/node-gyp/bin/node-gyp.js');
  execFileSync(join(folder, 'bin/node'), [compiler, 'rebuild', '--release', `--nodedir=${folder}`], {
    cwd: work,
    stdio: 'ignore',
  });
  rmSync(target, { recursive: true, force: true });
  renameSync(work, target);
  return addon;
}

/** The newest Node of the coordinator, with its own better-sqlite3: an addon fits one major version of Node. */
async function newestNode(): Promise<NodeInstallation> {
  const module = pathToFileURL(join(PROJECT, 'release/node-binary.mjs')).href;
  const releases = (await import(module)) as NodeReleases;
  const version = releases.NEWEST_COORDINATOR_NODE;
  const folder = releases.nodeFolder(releases.OWN_ARCHITECTURE, version);
  const addon = compiledAddon(folder, version);
  const preload = join(homedir(), '.cache/everynode-test', `use-addon-node-${version}.cjs`);
  mkdirSync(join(homedir(), '.cache/everynode-test'), { recursive: true });
  writeFileSync(
    preload,
    `const { dlopen } = process;
process.dlopen = (module, path, ...rest) =>
  dlopen.call(process, module, path.endsWith('/better_sqlite3.node') ? ${JSON.stringify(addon)} : path, ...rest);
`,
  );
  return { binary: join(folder, 'bin/node'), preload };
}

function runOn({ binary, preload }: NodeInstallation, rounds: number): RoundsResult {
  const test = join(PROJECT, 'dist/test/clients/others/python-client.test.js');
  const options = preload ? { NODE_OPTIONS: `--require=${preload}` } : {};
  const begin = performance.now();
  const { status } = spawnSync(binary, ['--test', test], {
    env: { ...process.env, ...options, EVERYNODE_ROUNDS: String(rounds) },
    stdio: 'inherit',
    timeout: ROUNDS_TIMEOUT_MS,
  });
  return {
    node: execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim().slice(1),
    rounds,
    seconds: Math.round((performance.now() - begin) / 1_000),
    passed: status === 0,
  };
}

/** Runs the rounds with the coordinator on this Node, then on the newest Node of the coordinator. */
export async function runRounds(rounds: number): Promise<readonly RoundsResult[]> {
  return [runOn({ binary: process.execPath }, rounds), runOn(await newestNode(), rounds)];
}

/** Returns the results as Markdown. */
export function roundsTable(results: readonly RoundsResult[]): string {
  const rows = results.map(
    ({ node, rounds, seconds, passed }) =>
      `| ${node} | ${rounds} | ${seconds} s | ${passed ? 'no refusal' : 'failed'} |`,
  );
  return ['| Node of the coordinator | rounds | time | result |', '|---|---|---|---|', ...rows].join('\n');
}
