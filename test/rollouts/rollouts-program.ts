/**
 * Runs rollouts on thousands of simulated hosts and prints how many of them ever ran the bad release:
 *   npm run rollouts -- [--nodes N] [--only TEXT …] [--speed N] [--ready-after MS]
 */
import { npmScript, parseScriptArguments, wholeNumber } from '../harness/processes/npm-script.js';
import { ALL_SCENARIOS, playAll } from './play-scenarios.js';

interface Flags {
  nodes: number;
  only?: string[];
  speed: number;
  readyAfter: number;
}

const names = ALL_SCENARIOS.map(({ name }) => `\n  ${name}`).join('');
const script = npmScript(
  'rollouts',
  'Runs rollouts on simulated hosts and prints how many of them ever ran the bad release; exit code 1 when a rule was broken.',
)
  .option('--nodes <N>', 'hosts', wholeNumber, 5_000)
  .option('--only <TEXT...>', 'scenarios with one of these texts in their names')
  .option('--speed <N>', 'factor that shortens the simulated times of Pods', wholeNumber, 1_200)
  .option('--ready-after <MS>', 'simulated time until a Pod is ready', wholeNumber, 500)
  .addHelpText('after', `\nScenarios:${names}`);
const { options } = await parseScriptArguments<Flags>(script);
const { nodes, only, speed, readyAfter: readyMs } = options;

const startMs = performance.now();
const say = (text: string) =>
  void process.stdout.write(`${((performance.now() - startMs) / 1000).toFixed(1).padStart(7)}  ${text}\n`);
const { lines, broken } = await playAll({
  ...{ nodes, speed, readyMs, print: say },
  isMeant: ({ name }) => only === undefined || only.some((text) => name.includes(text)),
});
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = broken > 0 ? 1 : 0;
