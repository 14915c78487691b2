/** `everynode agent …` and `everynode simulate …`: run the same commands of `everynode-agent`. */
import type { Command } from 'commander';
import { runAgentCommand, runAgentUntilStopped } from '../machine/agent-process.js';

export function agentCommand(program: Command): void {
  // Otherwise commander would parse the agent's flags.
  program.enablePositionalOptions();
  program
    .command('agent')
    .description('run an agent command, like everynode-agent (see everynode agent --help)')
    .argument('[arguments...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action((args: string[]) => runAgentCommand(args));
}

export function simulateCommand(program: Command): void {
  program
    .command('simulate')
    .description('simulate a fleet of hosts (see everynode simulate --help)')
    .argument('[arguments...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action((args: string[]) => runAgentUntilStopped(['simulate', ...args]));
}
