/**
 * Runs histories by the thousand: npm run simulation -- [--histories N] [--first N] [--mix NAME] [--seed SEED] [--stop-after N] [--seconds N]
 * `--seed` runs one history and prints its chronicle; `--seconds` ends with the history that is under way by then. A failing history is shortened and told; the exit code is 1.
 */
import { parseArgs } from 'node:util';
import { historyOf } from './draw.js';
import { MIXES, type MixName } from './mixes.js';
import { type Outcome, runHistory } from './run-history.js';
import { shrink } from './shrink.js';
import { story } from './story.js';
import { Totals } from './totals.js';

const SHRINKING_TRIES = 80;

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '10000' },
    first: { type: 'string', default: '1' },
    mix: { type: 'string', default: 'all' },
    seed: { type: 'string' },
    'stop-after': { type: 'string', default: '3' },
    seconds: { type: 'string', default: 'Infinity' },
  },
});

const mix = MIXES[values.mix as MixName];
if (!mix) throw new Error(`--mix: one of ${Object.keys(MIXES).join(', ')}`);

async function one(seed: string): Promise<number> {
  const history = historyOf(seed, mix);
  const outcome = await runHistory(history);
  say(outcome.lines.join('\n'));
  say(outcome.violation ? `BROKEN: ${outcome.violation}` : `nothing broken, digest ${outcome.digest}`);
  return outcome.violation ? 1 : 0;
}

async function many(): Promise<number> {
  const [first, histories] = [Number(values.first), Number(values.histories)];
  const totals = new Totals();
  const end = performance.now() + Number(values.seconds) * 1_000;
  for (let number = first; number < first + histories && performance.now() < end; number++) {
    const history = historyOf(`${values.mix}-${number}`, mix);
    const outcome = await runHistory(history);
    totals.add(outcome);
    if (process.stderr.isTTY || totals.histories % 100 === 0) {
      const line = `${totals.progress()} of ${histories}`;
      process.stderr.write(process.stderr.isTTY ? `\r${line}\u001b[K` : `${line}\n`);
    }
    if (!outcome.violation) continue;
    totals.broken.push(history.seed);
    say(`\n${history.seed} breaks: ${outcome.violation}`);
    await tell(history.seed, outcome);
    if (totals.broken.length >= Number(values['stop-after'])) break;
  }
  say(totals.conclusion());
  return totals.broken.length > 0 ? 1 : 0;
}

async function tell(seed: string, { violation = '' }: Outcome): Promise<void> {
  const [rule] = violation.split(':');
  const failsAlike = async (candidate: ReturnType<typeof historyOf>) =>
    (await runHistory(candidate)).violation?.startsWith(rule ?? '') ?? false;
  const short = await shrink(historyOf(seed, mix), failsAlike, SHRINKING_TRIES);
  say(story(short, await runHistory(short)));
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

process.exitCode = values.seed === undefined ? await many() : await one(values.seed);
