/**
 * Breaks real hosts, round after round: npm run chaos -- [--rounds N] [--seed SEED] [--hosts N] [--minutes N] [--plain]
 * The hosts have systemd, an address and an engine of their own (root, see test/harness/hosts.ts); `--plain` leaves systemd out, and with it
 * reboots and power cuts. It ends at the first round in which something is broken, with exit code 1, and after the round that is under way on
 * Ctrl-C.
 */
import { parseArgs } from 'node:util';
import { playRounds } from './rounds.js';

/** What has not settled by then is broken: three times the longest wait that is right, a try of an agent to reconnect. */
const PATIENCE_MS = 180_000;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    hosts: { type: 'string', default: '3' },
    minutes: { type: 'string', default: 'Infinity' },
    plain: { type: 'boolean', default: false },
  },
});

let isEnough = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    isEnough = true;
  });

const say = (line: string) => void process.stdout.write(`${line}\n`);
const tally = await playRounds({
  seed: values.seed,
  rounds: Number(values.rounds),
  hosts: Number(values.hosts),
  longestMs: Number(values.minutes) * 60_000,
  isPlain: values.plain,
  patienceMs: PATIENCE_MS,
  isEnough: () => isEnough,
  say,
});
if (typeof tally === 'string') {
  say(`cannot run here: ${tally}`);
  process.exitCode = 1;
} else {
  say(tally.table());
  say(tally.conclusion(values.seed));
  process.exitCode = tally.violations > 0 ? 1 : 0;
}
