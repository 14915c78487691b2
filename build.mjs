/**
 * Builds the project from a fresh clone: installs packages, compiles into dist/, copies data files, bundles agent and
 * console.
 *   node build.mjs [--clean] [--install-tools] [--run MODULE ARG…]
 * `--run` then runs a compiled module in this process, with the arguments that follow. `--install-tools` may be among
 * them, because npm appends what the user adds. Plain JavaScript without dependencies, because no
 * packages are installed yet.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleAgent, bundleConsole } from './bundle.mjs';
import { engineProblem } from './engine-check.mjs';

const ROOT = dirname(fileURLToPath(import.meta.url));
/** Files to copy to dist/, and folders to copy without their TypeScript files. */
const DATA = [
  'coordinator/kinds/schema',
  'coordinator/api',
  'coordinator/store/replica/etcd/etcd-rpc.proto',
  'agent/everynode-agent.sh',
  'agent/runtime/sandbox',
  'test/conformance/cases',
  'test/clients/programs',
];
/** Tools that compiling better-sqlite3 needs, with their Debian packages. */
const TOOLS = { make: 'make', 'g++': 'g++', python3: 'python3' };

const USAGE = 'npm run build -- [--clean] [--install-tools]';

function fail(sentence, code = 1) {
  process.stderr.write(`everynode: ${sentence}\n`);
  process.exit(code);
}

function say(text) {
  process.stderr.write(`· ${text}\n`);
}

function run(command, args) {
  const done = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  return done.status ?? 1;
}

/**
 * Guesses the stage of `npm ci` from the files that it has written: npm prints nothing while it downloads and compiles.
 */
function installStage() {
  const sqlite = join(ROOT, 'node_modules/better-sqlite3');
  if (existsSync(join(sqlite, 'build/Release/better_sqlite3.node'))) return 'finishing';
  return existsSync(join(sqlite, 'build')) ? 'compiling SQLite' : 'fetching packages';
}

/**
 * Prints the stage and the elapsed seconds: on a terminal in one line each second, otherwise a line every ten seconds.
 */
function showProgress() {
  const begun = performance.now();
  const isTerminal = process.stderr.isTTY;
  const timer = setInterval(
    () => {
      const line = `  ${installStage()}, ${Math.round((performance.now() - begun) / 1000)} s`;
      process.stderr.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
    },
    isTerminal ? 1_000 : 10_000,
  );
  return (isDone) => {
    clearInterval(timer);
    if (isTerminal) process.stderr.write('\r\x1b[K');
    if (isDone) say(`npm packages installed in ${Math.round((performance.now() - begun) / 1000)} s`);
  };
}

/** Runs `npm ci` with its progress. Resolves with its exit code. */
async function npmCi() {
  // The compiler's output, which .npmrc turns on, would hide the progress. npm still prints the output of a failing
  // script.
  const args = [
    'ci',
    '--no-fund',
    '--no-audit',
    '--loglevel=error',
    '--no-progress',
    '--foreground-scripts=false',
  ];
  const child = spawn('npm', args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  const finish = showProgress();
  const code = await new Promise((done) =>
    child.on('error', () => done(1)).on('exit', (status) => done(status ?? 1)),
  );
  finish(code === 0);
  return code;
}

function missingTools() {
  const paths = (process.env.PATH ?? '').split(':');
  return Object.keys(TOOLS).filter((tool) => !paths.some((path) => existsSync(join(path, tool))));
}

function installTools(missing) {
  const packages = missing.map((tool) => TOOLS[tool]);
  if (process.getuid?.() !== 0)
    fail(`--install-tools needs root. Run as root: apt-get install ${packages.join(' ')}`);
  say(`installing ${packages.join(', ')}`);
  if (run('apt-get', ['update', '-q']) !== 0) fail('apt-get update failed, see above');
  if (run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages]) !== 0) {
    fail('apt-get install failed, see above');
  }
}

function packagesAreCurrent() {
  const installed = join(ROOT, 'node_modules/.package-lock.json');
  if (!existsSync(installed)) return false;
  const wanted = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
  const present = JSON.parse(readFileSync(installed, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || optional || present[path]?.version === version,
  );
}

async function installPackages(mayInstallTools) {
  if (packagesAreCurrent()) return;
  const missing = missingTools();
  if (missing.length > 0 && mayInstallTools) installTools(missing);
  say('installing npm packages (a minute or two, most of it compiling SQLite)');
  if ((await npmCi()) === 0) return;
  const lacking = missingTools();
  if (lacking.length === 0) fail('npm ci failed, see above');
  const packages = lacking.map((tool) => TOOLS[tool]).join(' ');
  fail(
    `npm ci failed: compiling SQLite needs ${lacking.join(', ')}. ` +
      `Run as root: apt-get install ${packages}; or repeat with --install-tools as root.`,
  );
}

async function compile(clean) {
  const dist = join(ROOT, 'dist');
  // An incremental build does not remove the output of deleted sources.
  if (clean) rmSync(dist, { recursive: true, force: true });
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  for (const project of [ROOT, join(ROOT, 'console')]) {
    const compiled = run(process.execPath, [compiler, '-p', project]);
    if (compiled !== 0) process.exit(compiled);
  }
  for (const folder of DATA.filter((path) => existsSync(join(ROOT, path)))) {
    const isData = (path) => !path.endsWith('.ts');
    cpSync(join(ROOT, folder), join(dist, folder), { recursive: true, filter: isData });
  }
  const { bin, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  await Promise.all([bundleAgent(ROOT, version), bundleConsole(ROOT)]);
  for (const program of Object.values(bin)) chmodSync(join(ROOT, program), 0o755);
}

const major = Number(process.versions.node.split('.')[0]);
if (major < 20) fail(`Node 20 or newer is needed, this is ${process.version}`);

const given = process.argv.slice(2);
const runAt = given.indexOf('--run');
const own = runAt < 0 ? given : given.slice(0, runAt);
const [module, ...args] = runAt < 0 ? [] : given.slice(runAt + 1);
if (own.includes('--help')) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}
const unknown = own.find((each) => !['--clean', '--install-tools'].includes(each));
if (unknown) fail(`unknown option '${unknown}': ${USAGE}`, 2);
// Before the packages: a user must not wait for minutes to learn that the engine is missing.
const problem = module?.endsWith('cli/everynode.js') && (await engineProblem(args, process.env));
if (problem) fail(problem, 3);
await installPackages(given.includes('--install-tools'));
await compile(own.includes('--clean'));
if (module) {
  const path = resolve(ROOT, module);
  process.argv = [process.argv[0], path, ...args.filter((each) => each !== '--install-tools')];
  await import(pathToFileURL(path).href);
}
