/**
 * Plays rollouts on thousands of pretended hosts and shows how many of them ever ran the bad release:
 *   npm run rollouts -- [--nodes N] [--only TEXT …] [--speed N] [--ready-after MS]
 * `--only`: those whose names hold this; `--help` lists them. `--speed`: how many times faster than they say Pods pretend;
 * `--ready-after`: how long they say that they take. Exit code 1 when a rule was broken.
 */
import { parseArgs } from 'node:util';
import { ALL_SCENARIOS, playAll } from './play.js';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '5000' },
    only: { type: 'string', multiple: true },
    speed: { type: 'string', default: '1200' },
    'ready-after': { type: 'string', default: '500' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  const names = ALL_SCENARIOS.map(({ name }) => `  ${name}`);
  const usage = 'npm run rollouts -- [--nodes N] [--only TEXT …] [--speed N] [--ready-after MS]';
  process.stdout.write([usage, 'Scenarios:', ...names, ''].join('\n'));
  process.exit(0);
}

const begun = performance.now();
const say = (text: string) =>
  void process.stdout.write(`${((performance.now() - begun) / 1000).toFixed(1).padStart(7)}  ${text}\n`);
const { lines, broken } = await playAll({
  nodes: Number(values.nodes),
  speed: Number(values.speed),
  readyMs: Number(values['ready-after']),
  say,
  isMeant: ({ name }) => values.only === undefined || values.only.some((text) => name.includes(text)),
});
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = broken > 0 ? 1 : 0;
