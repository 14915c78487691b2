/**
 * Runs test suites with node:test and prints one closing line, `N passed, N failed`.
 *   npm test -- [SUITE|FILE …]     suites are the folders under test/; none named = all
 * A test that cannot run on this machine calls `leaveOut`; the closing summary lists each with its reason.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { Argument, InvalidArgumentError } from 'commander';
import { LEFT_OUT_PREFIX } from './harness/basics/skip-reason.js';
import { npmScript, parseScriptArguments } from './harness/processes/npm-script.js';

const ROOT = dirname(fileURLToPath(import.meta.url));
/** Suites with files that run together, at most `files` test files at a time. */
interface Lane {
  suites: readonly string[];
  files: number;
}

const lane = (files: number, ...suites: string[]): Lane => ({ suites, files });
/**
 * Steps run one after another; the lanes of a step run concurrently. Benchmarks need the machine to themselves. A
 * browser cancels downloads (`ERR_NETWORK_CHANGED`) when a concurrent suite creates networks.
 *
 * Files of component tests wait for half of their time, and those with engines or a kubectl for two thirds: three at once
 * keep two cores busy.
 */
const STEPS: readonly (readonly Lane[])[] = [
  [lane(2, '.')],
  [lane(2, 'unit')],
  [lane(3, 'component')],
  [lane(2, 'simulation'), lane(1, 'console')],
  [lane(3, 'clients', 'e2e')],
  [lane(1, 'bench')],
];

function testFiles(path: string, recurse: boolean): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .flatMap((entry) => {
      const child = join(path, entry.name);
      if (entry.isDirectory()) return recurse ? testFiles(child, true) : [];
      return entry.name.endsWith('.test.js') ? [child] : [];
    })
    .sort();
}

interface Title {
  name: string;
  nesting: number;
  file?: string | undefined;
}

/** Titles of the tests in progress, so that a failure is printed with its file and the `describe` blocks around it. */
class OpenTitles {
  #open: Title[] = [];

  /** Events of concurrent files arrive file by file. */
  add(title: Title): void {
    this.#open = [...this.#open.slice(0, title.nesting), title];
  }

  of(title: Title): string {
    const path = [...this.#open.slice(0, title.nesting), title];
    // A test that a fixture defines reports the fixture's file. The `describe` blocks around it may report the test's
    // own file.
    const file = path.find((each) => each.file?.endsWith('.test.js'))?.file;
    const names = path.map(({ name }) => name);
    return (file === undefined ? names : [relative(ROOT, file), ...names]).join(' › ');
  }
}

/** Timeout of a test file. */
const TIMEOUT_MS = 15 * 60_000;
/** Files on hosts with systemd build releases and boot hosts: 7 min on an idle machine, more than 15 on a busy one. */
const HOSTS_TIMEOUT_MS = 45 * 60_000;

function isOnHosts(file: string): boolean {
  return relative(ROOT, file).startsWith('hosts/');
}

interface Outcome {
  passed: number;
  failed: string[];
  leftOut: Set<string>;
}

async function runFiles(files: string[], concurrency: number, outcome: Outcome): Promise<void> {
  if (files.length === 0) return;
  const stream = run({ files, concurrency, timeout: files.some(isOnHosts) ? HOSTS_TIMEOUT_MS : TIMEOUT_MS });
  const titles = new OpenTitles();
  stream.on('test:start', (event) => titles.add(event));
  stream.on('test:pass', (event) => {
    if (isLeaf(event) && event.skip === undefined) outcome.passed += 1;
  });
  stream.on('test:fail', (event) => {
    if (isLeaf(event)) outcome.failed.push(titles.of(event));
  });
  stream.on('test:diagnostic', ({ message }) => {
    if (message.startsWith(LEFT_OUT_PREFIX)) outcome.leftOut.add(message.slice(LEFT_OUT_PREFIX.length));
  });
  for await (const chunk of stream.compose(new spec())) process.stdout.write(chunk);
}

/** The tours share an address of the loopback device and a directory of the host, so that one runs at a time. */
function isTour(file: string): boolean {
  return relative(ROOT, file).startsWith('e2e/tour/');
}

/**
 * Sorted by file name, so that the suites of a lane mix. A lane with tours runs these and a share of its other files one
 * after another, next to the rest.
 */
async function runLane({ suites, files }: Lane, outcome: Outcome): Promise<void> {
  const all = suites.flatMap((suite) => testFiles(join(ROOT, suite), suite !== '.'));
  all.sort((a, b) => (basename(a) < basename(b) ? -1 : 1));
  const tours = all.filter(isTour);
  if (tours.length === 0) return runFiles(all, files, outcome);
  const others = all.filter((file) => !isTour(file));
  const share = others.splice(0, Math.max(0, Math.ceil(all.length / files) - tours.length));
  const rest = runFiles(others, Math.max(1, files - 1), outcome);
  await Promise.all([runFiles([...tours, ...share], 1, outcome), rest]);
}

/** Resolves a name to a suite, or to a file path relative to the suites. Throws if there is neither. */
function readName(name: string, before: readonly string[] = []): string[] {
  const found = [relative('.', name) || name, relative(ROOT, resolve(name))].find(
    (each) => existsSync(join(ROOT, each)) && testFiles(join(ROOT, each), true).length > 0,
  );
  if (found === undefined) throw new InvalidArgumentError('It is neither a suite nor a test file.');
  return [...before, found];
}

/** The lane of a suite or file that the user named. */
function laneOf(name: string): Lane {
  if (name.endsWith('.js')) return lane(1, name);
  return lane(STEPS.flat().find(({ suites }) => suites.includes(name))?.files ?? 2, name);
}

/** Runs named unit and component files together, and every other name as a step of its own. */
function namedSteps(names: readonly string[]): readonly (readonly Lane[])[] {
  const isSmall = (name: string) => name.endsWith('.js') && /^(unit|component)\//.test(name);
  const small = names.filter(isSmall);
  const others = names.filter((name) => !isSmall(name)).map((name) => [laneOf(name)]);
  return small.length > 0 ? [[lane(2, ...small)], ...others] : others;
}

/**
 * Files and `describe` blocks are containers: only their tests count, unless the container itself failed, like a file
 * that exits early.
 */
function isLeaf(event: { name: string; details: { type?: string; error?: Error } }): boolean {
  const failure = event.details.error as { failureType?: string } | undefined;
  if (failure) return failure.failureType !== 'subtestsFailed';
  return event.details.type !== 'suite' && !event.name.endsWith('.test.js');
}

async function main(names: string[]): Promise<number> {
  const outcome: Outcome = { passed: 0, failed: [], leftOut: new Set() };
  for (const step of names.length > 0 ? namedSteps(names) : STEPS) {
    await Promise.all(step.map((each) => runLane(each, outcome)));
  }
  for (const name of outcome.failed) process.stdout.write(`failed: ${name}\n`);
  for (const reason of outcome.leftOut) process.stdout.write(`left out: ${reason}\n`);
  process.stdout.write(`${outcome.passed} passed, ${outcome.failed.length} failed\n`);
  return outcome.failed.length > 0 || outcome.passed === 0 ? 1 : 0;
}

const suites = STEPS.flat().flatMap((each) => each.suites);
const script = npmScript(
  'test',
  'Runs tests and lists skipped ones with their reasons; exit code 1 when a test failed.',
).addArgument(
  new Argument('[name...]', `suites (${suites.join(', ')}, hosts) or compiled files`)
    .argParser(readName)
    .default([], 'all suites except hosts'),
);
const {
  words: [names],
} = await parseScriptArguments<object, [string[]]>(script);
process.exitCode = await main(names);
