/**
 * Mutation testing: changes the product in one place at a time, and reports the changes that no test notices.
 *   npm run mutation -- [PATH …] [--sample N] [--seed S]
 * Each mutant runs against the related unit and component tests that execute its code (`related-tests.ts`).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Argument, InvalidArgumentError, Option } from 'commander';
import { temporaryDirectory } from '../harness/basics/temporary-directory.js';
import { npmScript, parseScriptArguments, wholeNumber } from '../harness/processes/npm-script.js';
import { COMPILED_TESTS, PROJECT, relatedTests } from '../harness/processes/related-tests.js';
import { type Mutant, mutantText, mutateFiles, writeMutated } from './mutated-files.js';

/** A copy of `dist/` next to it, so that the tests find the project's root. */
const COPY = join(PROJECT, 'dist-mutated');
const ROOMS = ['coordinator', 'agent', 'shared'];
/** Files that run concurrently. */
const JOBS = 2;
/** Timeout of a test file, in multiples of its time without a mutant. A mutant may cause an endless loop. */
const TIMEOUT_FACTOR = 4;
const MIN_TIMEOUT_MS = 20_000;
const DRY_RUN_TIMEOUT_MS = 120_000;

/** A test file without a mutant. */
interface DryRun {
  ms: number;
  covered: ReadonlySet<string>;
}

type Outcome = 'killed' | 'survived' | 'not executed';

function sourceFiles(path: string): string[] {
  const names = statSync(join(PROJECT, path)).isFile()
    ? [path]
    : readdirSync(join(PROJECT, path), { recursive: true, encoding: 'utf8' }).map((name) => join(path, name));
  return names.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts')).sort();
}

function readPath(path: string, before: readonly string[] = []): string[] {
  const source = relative(PROJECT, resolve(path));
  const isProduct = ROOMS.includes(source.split('/')[0] ?? '');
  if (!isProduct || !statSync(join(PROJECT, source), { throwIfNoEntry: false })) {
    throw new InvalidArgumentError(`It is not a file or folder of ${ROOMS.join(', ')}.`);
  }
  return [...before, source];
}

/** A repeatable order by the seed (mulberry32). */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return (bits ^ (bits >>> 14)) >>> 0;
  };
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/** Ends the test files that run. */
const running = new Set<() => void>();

/** Runs one test file of the copy. Resolves with true if it passed in time. */
function passes(test: string, env: Record<string, string>, timeoutMs: number): Promise<boolean> {
  const child: ChildProcess = spawn(process.execPath, [join(COPY, 'test', test)], {
    ...{ cwd: PROJECT, stdio: 'ignore', detached: true },
    env: { ...process.env, ...env },
  });
  const kill = () => {
    // Kill the process group, because a test may have started other processes.
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  running.add(kill);
  const timer = setTimeout(kill, timeoutMs);
  return new Promise((resolve) => {
    child.on('exit', (code) => {
      clearTimeout(timer);
      running.delete(kill);
      resolve(code === 0);
    });
  });
}

/** Calls `work` for each item, for `JOBS` items at a time. */
async function eachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const next = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: JOBS }, next));
}

/** Runs tests without a mutant, each once. */
class DryRuns {
  readonly #runs = new Map<string, Promise<DryRun | undefined>>();

  /** Resolves with undefined if the test fails without a mutant. Such a test is not used. */
  of(test: string): Promise<DryRun | undefined> {
    const run = this.#runs.get(test) ?? dryRun(test);
    this.#runs.set(test, run);
    return run;
  }
}

async function dryRun(test: string): Promise<DryRun | undefined> {
  const folder = temporaryDirectory();
  const preload = pathToFileURL(join(COMPILED_TESTS, 'mutation/record-coverage.js')).href;
  const env = { MUTANT_COVERAGE_FOLDER: folder, NODE_OPTIONS: `--import=${preload}` };
  const startedAt = performance.now();
  if (!(await passes(test, env, DRY_RUN_TIMEOUT_MS))) {
    process.stdout.write(`fails without a mutant, so it is not used: ${test}\n`);
    return undefined;
  }
  const ids = readdirSync(folder).flatMap(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as string[],
  );
  return { ms: performance.now() - startedAt, covered: new Set(ids) };
}

/** Runs the tests that execute the mutant's code, unit tests first, until one fails. */
async function outcomeOf({ id, fileName }: Mutant, runs: DryRuns): Promise<Outcome> {
  const tests = relatedTests(fileName) ?? [];
  const isUnit = (test: string) => test.startsWith('unit/');
  let outcome: Outcome = 'not executed';
  for (const test of [...tests.filter(isUnit), ...tests.filter((each) => !isUnit(each))]) {
    const run = await runs.of(test);
    if (!run?.covered.has(id)) continue;
    const timeoutMs = Math.max(MIN_TIMEOUT_MS, run.ms * TIMEOUT_FACTOR);
    if (!(await passes(test, { __STRYKER_ACTIVE_MUTANT__: id }, timeoutMs))) return 'killed';
    outcome = 'survived';
  }
  return outcome;
}

function finish(outcomes: ReadonlyMap<Mutant, Outcome>): void {
  rmSync(COPY, { recursive: true, force: true });
  for (const room of ROOMS) {
    const own = [...outcomes].filter(([{ fileName }]) => fileName.startsWith(`${room}/`));
    if (own.length === 0) continue;
    const killed = own.filter(([, outcome]) => outcome === 'killed').length;
    process.stdout.write(
      `${room}: ${killed} of ${own.length} mutants killed, ${Math.round((100 * killed) / own.length)} %\n`,
    );
  }
}

async function main(paths: readonly string[], sample: number | undefined, seed: number): Promise<void> {
  const { mutants, contents } = await mutateFiles(PROJECT, paths.flatMap(sourceFiles));
  const chosen = sample === undefined ? mutants : shuffled(mutants, seed).slice(0, sample);
  const files = [...new Set(chosen.map(({ fileName }) => fileName))];
  process.stdout.write(
    `${chosen.length} of ${mutants.length} mutants in ${files.length} files, seed ${seed}\n`,
  );
  rmSync(COPY, { recursive: true, force: true });
  cpSync(join(PROJECT, 'dist'), COPY, { recursive: true });
  await Promise.all(files.map((name) => writeMutated(COPY, name, contents.get(name) ?? '')));
  const runs = new DryRuns();
  const outcomes = new Map<Mutant, Outcome>();
  // Ctrl+C ends a long run with the summary of the mutants so far.
  process.once('SIGINT', () => {
    for (const kill of running) kill();
    finish(outcomes);
    process.exit(130);
  });
  await eachConcurrently(chosen, async (mutant) => {
    const outcome = await outcomeOf(mutant, runs);
    outcomes.set(mutant, outcome);
    if (outcome !== 'killed') process.stdout.write(`${outcome}: ${mutantText(mutant, PROJECT)}\n`);
  });
  finish(outcomes);
}

const script = npmScript('mutation', 'Reports changes of the product that no unit or component test notices.')
  .addArgument(
    new Argument('[path...]', `files or folders of ${ROOMS.join(', ')}`)
      .argParser(readPath)
      .default([], 'all of them'),
  )
  .addOption(
    new Option('--sample <n>', 'number of mutants to draw at random; default: all').argParser(wholeNumber),
  )
  .addOption(new Option('--seed <s>', 'seed of the sample; default: random').argParser(wholeNumber));
const {
  options: { sample, seed = Math.floor(Math.random() * 1e9) },
  words: [paths],
} = await parseScriptArguments<{ sample?: number; seed?: number }, [string[]]>(script);
await main(paths.length > 0 ? paths : ROOMS, sample, seed);
