/** `everynode simulate …`: the same as `everynode-agent simulate …`. */
import type { Command } from 'commander';
import { runAgentUntilStopped } from '../machine/agent-process.js';

/** Adds the command. */
export function simulateCommand(program: Command): void {
  program
    .command('simulate')
    .description('pretend to be a fleet of hosts (see everynode simulate --help)')
    .argument('[arguments...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action((args: string[]) => runAgentUntilStopped(['simulate', ...args]));
}
