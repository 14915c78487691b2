/**
 * Runs histories by the thousand: npm run simulation -- [--histories N] [--first N] [--mix NAME] [--seed SEED] [--stop-after N] [--seconds N] [--threads N] [--json FILE]
 * `--seed` runs one history and prints its chronicle; `--seconds` ends with the histories that are under way by then; `--threads` is one
 * a core when not given. A failing history is shortened and told; the exit code is 1. At the end stands what was done, what happened of it and how
 * often each rule judged something; `--json` keeps that as well.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { historyOf } from './draw.js';
import { type HistoryResult, HistoryThread } from './history-thread.js';
import { invariants } from './invariants.js';
import { MIXES, type MixName } from './mixes.js';
import { REST_RULE } from './rest.js';
import { runHistory } from './run-history.js';
import { Totals } from './totals.js';

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '10000' },
    first: { type: 'string', default: '1' },
    mix: { type: 'string', default: 'all' },
    seed: { type: 'string' },
    'stop-after': { type: 'string', default: '3' },
    seconds: { type: 'string', default: 'Infinity' },
    json: { type: 'string' },
    threads: { type: 'string', default: String(availableParallelism()) },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  say(
    'npm run simulation -- [--histories N] [--first N] [--mix NAME] [--seed SEED] [--stop-after N] [--seconds N] [--threads N]',
  );
  say(
    `mixes: ${Object.keys(MIXES).join(', ')}; a seed is MIX-NUMBER, as in turns-820005, with its --mix beside`,
  );
  process.exit(0);
}
if (!Object.hasOwn(MIXES, values.mix)) throw new Error(`--mix: one of ${Object.keys(MIXES).join(', ')}`);
const mix = values.mix as MixName;

async function one(seed: string): Promise<number> {
  const outcome = await runHistory(historyOf(seed, MIXES[mix]));
  say(outcome.lines.join('\n'));
  say(outcome.violation ? `BROKEN: ${outcome.violation}` : `nothing broken, digest ${outcome.digest}`);
  return outcome.violation ? 1 : 0;
}

async function many(): Promise<number> {
  const rules = [...invariants().map(({ rule }) => rule), REST_RULE];
  const totals = new Totals(rules.filter((rule) => rule !== ''));
  const end = performance.now() + Number(values.seconds) * 1_000;
  const past = Number(values.first) + Number(values.histories);
  let next = Number(values.first);
  const isOver = () =>
    next >= past || performance.now() >= end || totals.broken.length >= Number(values['stop-after']);
  const work = async (): Promise<void> => {
    const thread = new HistoryThread(mix);
    while (!isOver()) {
      next += 1;
      note(await thread.run(`${mix}-${next - 1}`), totals);
    }
    await thread.end();
  };
  await Promise.all(Array.from({ length: Number(values.threads) }, work));
  say(totals.conclusion());
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(totals.report(), undefined, 2));
  return totals.broken.length > 0 ? 1 : 0;
}

function note(result: HistoryResult, totals: Totals): void {
  totals.add(result);
  if (process.stderr.isTTY || totals.histories % 100 === 0) {
    const line = `${totals.progress()} of ${values.histories}`;
    process.stderr.write(process.stderr.isTTY ? `\r${line}\u001b[K` : `${line}\n`);
  }
  if (result.told === undefined) return;
  totals.broken.push(result.seed);
  say(`\n${result.seed} breaks: ${result.violation}\n${result.told}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

process.exitCode = values.seed === undefined ? await many() : await one(values.seed);
