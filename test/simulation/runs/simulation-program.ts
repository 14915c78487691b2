/**
 * Runs thousands of histories. Shortens and reports a failing history. At the end it prints the counts of steps, events
 * and checks of each rule.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Option } from 'commander';
import { npmScript, parseScriptArguments, wholeNumber } from '../../harness/processes/npm-script.js';
import { invariants } from '../rules/invariants.js';
import { SETTLED_RULE } from '../rules/rest-rules.js';
import { type HistoryResult, HistoryThread } from './history-thread.js';
import { RUN_NAMES, type RunName, runSeed } from './run-seed.js';
import { Totals } from './run-totals.js';

interface Flags {
  histories: number;
  first: number;
  mix: RunName;
  seed?: string;
  stopAfter: number;
  seconds?: number;
  threads: number;
  json?: string;
}

const script = npmScript(
  'simulation',
  'Runs histories by the thousand, on simulated time; exit code 1 when one broke a rule.',
)
  .option('--histories <N>', 'how many', wholeNumber, 10_000)
  .option('--first <N>', 'the number of the first', wholeNumber, 1)
  .addOption(new Option('--mix <MIX>', 'what they are made of').choices(RUN_NAMES).default('all'))
  .option(
    '--seed <SEED>',
    'this one alone, of this --mix, with its chronicle: MIX-NUMBER, as in turns-820005',
  )
  .option('--stop-after <N>', 'end once so many broke', wholeNumber, 3)
  .option('--seconds <N>', 'end with those under way after so long', wholeNumber)
  .option('--threads <N>', 'how many run beside each other', wholeNumber, availableParallelism())
  .option('--json <FILE>', 'keep the tally');
const { options: flags } = await parseScriptArguments<Flags>(script);
const { mix } = flags;

async function one(seed: string): Promise<number> {
  const outcome = await runSeed(seed, mix);
  say(outcome.lines.join('\n'));
  say(outcome.violation ? `BROKEN: ${outcome.violation}` : `nothing broken, digest ${outcome.digest}`);
  return outcome.violation ? 1 : 0;
}

async function many(): Promise<number> {
  const rules = [...invariants().map(({ rule }) => rule), SETTLED_RULE];
  const totals = new Totals(rules.filter((rule) => rule !== ''));
  const end = performance.now() + (flags.seconds ?? Number.POSITIVE_INFINITY) * 1_000;
  const past = flags.first + flags.histories;
  let next = flags.first;
  const isOver = () => next >= past || performance.now() >= end || totals.broken.length >= flags.stopAfter;
  const work = async (): Promise<void> => {
    const thread = new HistoryThread(mix);
    while (!isOver()) {
      next += 1;
      note(await thread.run(`${mix}-${next - 1}`), totals);
    }
    await thread.end();
  };
  await Promise.all(Array.from({ length: flags.threads }, work));
  say(totals.conclusion());
  if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify(totals.report(), undefined, 2));
  return totals.broken.length > 0 ? 1 : 0;
}

function note(result: HistoryResult, totals: Totals): void {
  totals.add(result);
  if (process.stderr.isTTY || totals.histories % 100 === 0) {
    const line = `${totals.progress()} of ${flags.histories}`;
    process.stderr.write(process.stderr.isTTY ? `\r${line}\u001b[K` : `${line}\n`);
  }
  if (!result.shortened) return;
  totals.addBroken(result.seed, result.shortened.seconds);
  say(`\n${result.seed} breaks: ${result.violation}\n${result.shortened.story}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

process.exitCode = flags.seed === undefined ? await many() : await one(flags.seed);
