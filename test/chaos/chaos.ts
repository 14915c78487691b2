/** Breaks real hosts in rounds, until a round fails or, after Ctrl-C, the current round is over. */
import { InvalidArgumentError } from 'commander';
import { npmScript, parseScriptArguments, wholeNumber } from '../harness/processes/npm-script.js';
import { playRounds } from './chaos-rounds.js';
import { playCoordinatorRounds } from './coordinators/coordinator-rounds.js';
import { MACHINES } from './coordinators/machine-network.js';

/**
 * A round must settle within this time: three times the longest legitimate wait, which is an agent's reconnect
 * back-off.
 */
const PATIENCE_MS = 180_000;

interface Flags {
  rounds: number;
  seed: string;
  hosts: number;
  minutes?: number;
  plain?: true;
  coordinators?: typeof MACHINES;
}

const script = npmScript(
  'chaos',
  'Injects faults into real hosts with systemd, their own address and engine, in rounds, as root; exit code 1 after the first failed round.',
)
  .option('--rounds <N>', 'how many', wholeNumber, 20)
  .option('--seed <SEED>', 'seed of the rounds', '1')
  .option('--hosts <N>', 'how many', wholeNumber, 3)
  .option('--minutes <N>', 'start no round after this time', wholeNumber)
  .option('--plain', 'hosts without systemd: no reboots and power cuts')
  .option(
    '--coordinators <N>',
    `break ${MACHINES} coordinators on ${MACHINES} members of etcd instead, with hollow hosts`,
    numberOfCoordinators,
  );
const { options: flags } = await parseScriptArguments<Flags>(script);

let isEnough = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    isEnough = true;
  });

const say = (line: string) => void process.stdout.write(`${line}\n`);
const options = {
  seed: flags.seed,
  rounds: flags.rounds,
  hosts: flags.hosts,
  longestMs: (flags.minutes ?? Number.POSITIVE_INFINITY) * 60_000,
  timeoutMs: PATIENCE_MS,
  isEnough: () => isEnough,
  print: say,
};
const tally = flags.coordinators
  ? await playCoordinatorRounds(options)
  : await playRounds({ ...options, isPlain: flags.plain ?? false });
if (typeof tally === 'string') {
  say(`cannot run here: ${tally}`);
  process.exitCode = 1;
} else {
  say(tally.table());
  say(tally.conclusion(flags.seed));
  process.exitCode = tally.violations > 0 ? 1 : 0;
}

function numberOfCoordinators(text: string): typeof MACHINES {
  if (Number(text) !== MACHINES) throw new InvalidArgumentError(`It must be ${MACHINES}.`);
  return MACHINES;
}
