/**
 * Runs test suites with node:test and prints one closing line, `N passed, N failed`.
 *   npm test -- [SUITE|FILE …]     suites are the folders under test/; none named = all
 * A test that cannot run on this machine calls `leaveOut`; the closing summary lists each with its reason.
 */
import { relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { Argument, InvalidArgumentError } from 'commander';
import { LEFT_OUT_PREFIX } from './harness/basics/skip-reason.js';
import { REMOVED_FOLDERS_VARIABLE } from './harness/engines/engine-remains.js';
import { npmScript, parseScriptArguments } from './harness/processes/npm-script.js';
import {
  addOutcome,
  closingLines,
  emptyOutcome,
  failWithoutTests,
  type Outcome,
  saveOutcome,
} from './runner/outcome.js';
import { RemovedFolders } from './runner/removed-folders.js';
import {
  COMPILED_SUITES,
  emptySuites,
  filesOf,
  findTests,
  type Lane,
  namedSteps,
  STEPS,
  SUITES,
  type Track,
} from './runner/schedule.js';

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
    return (file === undefined ? names : [relative(COMPILED_SUITES, file), ...names]).join(' › ');
  }
}

/** Timeout of a test file. */
const TIMEOUT_MS = 15 * 60_000;
/**
 * Files on hosts with systemd build releases and boot hosts: 7 min on an idle machine, more than 15 on a busy one. Files
 * of the simulation get only the time that other suites leave.
 */
const LONG_TIMEOUT_MS = 45 * 60_000;

function takesLong(file: string): boolean {
  return /^(hosts|simulation)\//.test(relative(COMPILED_SUITES, file));
}

async function runLane(lane: Lane, outcome: Outcome, removed: RemovedFolders): Promise<void> {
  const begun = performance.now();
  const files = filesOf(lane);
  const concurrency = lane.files;
  const stream = run({ files, concurrency, timeout: files.some(takesLong) ? LONG_TIMEOUT_MS : TIMEOUT_MS });
  const titles = new OpenTitles();
  stream.on('test:start', (event) => titles.add(event));
  stream.on('test:pass', (event) => {
    if (isLeaf(event) && event.skip === undefined) outcome.passed += 1;
  });
  stream.on('test:fail', (event) => {
    if (isLeaf(event)) outcome.failed.push(titles.of(event));
  });
  // A test that a fixture defines reports the fixture's file, but the end of a file is an event of its own.
  stream.on('test:complete', ({ name, file, details }) => {
    if (name !== file) return;
    outcome.seconds.set(relative(COMPILED_SUITES, file), details.duration_ms / 1000);
    void removed.empty();
  });
  stream.on('test:diagnostic', ({ message }) => {
    if (message.startsWith(LEFT_OUT_PREFIX)) outcome.leftOut.add(message.slice(LEFT_OUT_PREFIX.length));
  });
  for await (const chunk of stream.compose(new spec())) process.stdout.write(chunk);
  outcome.seconds.set(lane.suites.join(', '), (performance.now() - begun) / 1000);
}

async function runTrack(track: Track, outcome: Outcome, removed: RemovedFolders): Promise<void> {
  for (const lane of track) await runLane(lane, outcome, removed);
}

/** Resolves a name to a suite, or to a file path relative to the suites. Throws if there is neither. */
function readName(name: string, before: readonly string[] = []): string[] {
  const found = findTests(name);
  if (found === undefined) throw new InvalidArgumentError('It is neither a suite nor a test file.');
  return [...before, found];
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

interface Options {
  addOutcome?: string;
  addedExitCode?: number;
  saveOutcome?: string;
}

async function main(names: string[], options: Options): Promise<number> {
  const outcome = emptyOutcome();
  const steps = names.length > 0 ? namedSteps(names) : STEPS;
  const removed = new RemovedFolders();
  process.env[REMOVED_FOLDERS_VARIABLE] = removed.path;
  for (const step of steps) {
    await Promise.all(step.map((track) => runTrack(track, outcome, removed)));
    // The next step may be the benchmarks, which a concurrent removal would disturb.
    await removed.empty();
  }
  await removed.close();
  outcome.failed.push(...removed.failures);
  outcome.failed.push(...emptySuites(steps).map((suite) => `${suite} has no test files`));
  failWithoutTests(outcome);
  if (options.saveOutcome !== undefined) saveOutcome(options.saveOutcome, outcome);
  if (options.addOutcome !== undefined) addOutcome(outcome, options.addOutcome, options.addedExitCode);
  for (const line of closingLines(outcome)) process.stdout.write(`${line}\n`);
  return outcome.failed.length > 0 ? 1 : 0;
}

const script = npmScript(
  'test',
  'Runs tests and lists skipped ones with their reasons; exit code 1 when a test failed.',
)
  .addArgument(
    new Argument('[name...]', `suites (${SUITES.join(', ')}), folders or compiled files`)
      .argParser(readName)
      .default([], 'all suites except hosts and extended'),
  )
  .option('--save-outcome <file>', 'save the outcome for the closing lines of another run')
  .option('--add-outcome <file>', 'count and name what failed in the run that saved this outcome, too')
  .option('--added-exit-code <code>', 'exit code of that run, which fails also if no test did', Number);
const {
  options,
  words: [names],
} = await parseScriptArguments<Options, [string[]]>(script);
process.exitCode = await main(names, options);
