/** `everynode agent …`: the same as `everynode-agent …`. */
import type { Command } from 'commander';
import { runAgentCommand, runAgentUntilStopped } from '../machine/agent-process.js';

/** Adds the command. */
export function agentCommand(program: Command): void {
  // Without it the agent's flags would be taken for our own.
  program.enablePositionalOptions();
  program
    .command('agent')
    .description('run what a host runs; the same as everynode-agent (see everynode agent --help)')
    .argument('[arguments...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action((args: string[]) => runAgentCommand(args));
}

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
