/**
 * Measures the product's overhead over the minimal work, with floor and product alternately in one run:
 *   npm run bench -- [real|hollow|values|jobs|links|parts|failover|stages …] [--quick] [--agents N] [--swarm] [--json FILE]
 *     [--write]
 * Exit code 1 if a measured goal is not met.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Argument, InvalidArgumentError } from 'commander';
import { npmScript, parseScriptArguments } from '../harness/processes/npm-script.js';
import { judge, type Result, type Section } from './bench-result.js';
import type { BenchContext } from './bench-section.js';
import { line, markdown, TABLE_BEGIN, TABLE_END } from './bench-table.js';
import { measureFailover } from './failover/measure-failover.js';
import { measureHollow } from './hollow/measure-hollow.js';
import { measureInternals } from './internals/measure-internals.js';
import { measureLinks } from './links/measure-links.js';
import { measureReal } from './real/measure-real.js';
import { measureStages } from './stages/measure-stages.js';
import { StepTimes } from './step-times.js';
import { measureJobs } from './values/measure-jobs.js';
import { measureValues } from './values/measure-values.js';

const BENCHMARKS = resolve(dirname(fileURLToPath(import.meta.url)), '../../../docs/benchmarks.md');

const SECTIONS: Record<Section, (bench: BenchContext) => Promise<void>> = {
  real: measureReal,
  hollow: measureHollow,
  values: measureValues,
  jobs: measureJobs,
  links: measureLinks,
  parts: measureInternals,
  failover: measureFailover,
  stages: measureStages,
};

interface Flags {
  quick?: true;
  agents?: number;
  swarm?: true;
  write?: true;
  json?: string;
}

/** The waves of the section `values` need this many hosts. */
const FEWEST_HOSTS = 100;

/** Open files of a coordinator without hosts, with a margin. */
const SPARE_FILES = 500;

/** The coordinator has an open file for each host. Without the check the last hosts would try to connect for ever. */
function hostCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < FEWEST_HOSTS)
    throw new InvalidArgumentError(`It must be a whole number, at least ${FEWEST_HOSTS}.`);
  const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  if (limit !== undefined && count + SPARE_FILES > Number(limit))
    throw new InvalidArgumentError(`The limit of open files (ulimit -n) is ${limit}.`);
  return count;
}

const script = npmScript(
  'bench',
  'Measures the overhead of the product over a minimal implementation; exit code 1 when a goal is not met.',
)
  .addArgument(
    new Argument('[section...]', 'sections to measure').choices(Object.keys(SECTIONS)).default([], 'all'),
  )
  .option('--quick', 'fewer hosts and rounds')
  .option('--agents <N>', 'number of hosts of the sections hollow, values and jobs, at least 100', hostCount)
  .option('--swarm', 'compare with Docker Swarm on the same engines')
  .option('--json <FILE>', 'write all values to a file')
  .option('--write', 'write them into the table of docs/benchmarks.md');
const {
  options: flags,
  words: [sections],
} = await parseScriptArguments<Flags, [string[]]>(script);

const secondsPassed = () => Math.round(process.uptime());
const times = new StepTimes(() => performance.now());
const results: Result[] = [];
const leftOut: { what: string; why: string }[] = [];
const bench: BenchContext = {
  quick: flags.quick ?? false,
  ...(flags.agents && { agents: flags.agents }),
  swarm: flags.swarm ?? false,
  report: (result) => {
    results.push(result);
    process.stdout.write(`${line(result)}\n`);
  },
  progress: (what) => {
    times.startStep(what);
    process.stderr.write(`    … ${what} (after ${secondsPassed()} s)\n`);
  },
  skip: (what, why) => {
    leftOut.push({ what, why });
    process.stdout.write(`    left out: ${what}: ${why}\n`);
  },
};

/** Load by other processes: on a busy machine they cause part of the latencies. */
const [loadBefore = 0] = loadavg();
for (const [name, measure] of Object.entries(SECTIONS)) {
  if (sections.length > 0 && !sections.includes(name)) continue;
  process.stdout.write(`${name}\n`);
  times.startSection(name);
  await measure(bench);
}
const seconds = secondsPassed();
const steps = times.steps();
const missed = results.filter((result) => judge(result).met === false);
const goals = results.filter(({ goal }) => goal);
process.stdout.write(
  `${goals.length - missed.length} of ${goals.length} goals met, ${results.length} measures in ${seconds} s: ${times.bySection()}\n`,
);
if (flags.json) writeFileSync(flags.json, `${JSON.stringify(report(), null, 2)}\n`);
if (flags.write) writeDocument();
process.exitCode = missed.length > 0 ? 1 : 0;

function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'CPU';
  return `${cpus().length} × ${model}, Node ${process.version}, load ${loadBefore.toFixed(1)} before the run`;
}

function report(): object {
  const judged = results.map((result) => ({ ...result, ...{ verdict: judge(result) } }));
  return { at: new Date().toISOString(), machine: machine(), seconds, steps, results: judged, leftOut };
}

function writeDocument(): void {
  const document = readFileSync(BENCHMARKS, 'utf8');
  const [before = '', rest = ''] = document.split(TABLE_BEGIN);
  const after = rest.slice(rest.indexOf(TABLE_END));
  const left = leftOut.map(({ what, why }) => `\nLeft out: ${what}: ${why}.`).join('');
  const switches = (['quick', 'swarm', 'write'] as const).filter((name) => flags[name]);
  const command = ['npm run bench --', ...sections, ...switches.map((name) => `--${name}`)].join(' ');
  const text = `\`${command}\`, medians of n values each in one run on ${machine()}.\n\n${markdown(results)}\n${left}`;
  writeFileSync(BENCHMARKS, `${before}${TABLE_BEGIN}\n${text}\n${after}`);
}
