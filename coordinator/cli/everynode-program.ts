/** The command line of `everynode`: one command a file. */
import addCompletionTo from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { printLine } from '../../shared/process/output/terminal-output.js';
import { VERSION } from '../../shared/process/release-version.js';
import { createCommandLine } from '../../shared/process/settings/command-line.js';
import { agentCommand, simulateCommand } from './commands/agent-commands.js';
import { auditCommand } from './commands/audit-command.js';
import { backupCommand } from './commands/backup-command.js';
import { coordinatorCommand } from './commands/coordinator-command.js';
import { doctorCommand } from './commands/coordinator-doctor-command.js';
import { downCommand } from './commands/down-command.js';
import { jobCommand } from './commands/job-command.js';
import { nodeCommand } from './commands/node-command.js';
import { planCommand } from './commands/plan-command.js';
import { releaseCommand } from './commands/release-command.js';
import { restoreCommands } from './commands/restore-command.js';
import { rolloutCommand } from './commands/rollout-command.js';
import { secretsKeyCommand } from './commands/secrets-key-command.js';
import { tokenCommand } from './commands/token-command.js';
import { upCommand } from './commands/up-command.js';
import { userCommand } from './commands/user-command.js';
import { whyCommand } from './commands/why-command.js';
import { demoCommand } from './demo/demo-command.js';
import { valuesCommand } from './values/values-command.js';

const COMPLETION = 'completion';

const COMMANDS = [
  upCommand,
  downCommand,
  demoCommand,
  coordinatorCommand,
  doctorCommand,
  agentCommand,
  simulateCommand,
  tokenCommand,
  userCommand,
  auditCommand,
  secretsKeyCommand,
  nodeCommand,
  backupCommand,
  restoreCommands,
  releaseCommand,
  whyCommand,
  planCommand,
  rolloutCommand,
  jobCommand,
  valuesCommand,
  versionCommand,
];

/** Returns the program with all its commands. Nothing runs before it parses arguments. */
export function createEverynodeProgram(): Command {
  const program = createCommandLine('everynode', 'DaemonSets for machines without Kubernetes.');
  for (const addTo of COMMANDS) addTo(program);
  completionCommand(program);
  return program;
}

/** Must be added last: it completes the commands and flags that exist when it is added. */
function completionCommand(program: Command): void {
  addCompletionTo(program, { completionCommandName: COMPLETION });
  program.commands
    .find((command) => command.name() === COMPLETION)
    ?.description("print a shell's completion script: source <(everynode completion bash)");
}

function versionCommand(program: Command): void {
  program
    .command('version')
    .description('print the version')
    .action(() => printLine(`everynode ${VERSION} (node ${process.version})`));
}
