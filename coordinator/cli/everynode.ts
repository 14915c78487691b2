#!/usr/bin/env node
import type { Command } from 'commander';
/** The `everynode` program. Each command has its own file. */
import { ApiError } from '../../shared/kube/objects/api-status.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { printLine } from '../../shared/process/output/terminal-output.js';
import { VERSION } from '../../shared/process/program-version.js';
import { runProgram } from '../../shared/process/service/program-lifecycle.js';
import { createCommandLine, runCommandLine } from '../../shared/process/settings/command-line.js';
import { refusalText } from './client/api-http-client.js';
import { agentCommand, simulateCommand } from './commands/agent-commands.js';
import { auditCommand } from './commands/audit-command.js';
import { backupCommand } from './commands/backup-command.js';
import { coordinatorCommand } from './commands/coordinator-command.js';
import { downCommand } from './commands/down-command.js';
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

await runProgram(async () => {
  const program = createCommandLine('everynode', 'DaemonSets for machines without Kubernetes.');
  for (const addTo of [
    upCommand,
    downCommand,
    coordinatorCommand,
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
    versionCommand,
  ]) {
    addTo(program);
  }
  try {
    await runCommandLine(program, process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ExitError(EXIT_CODES.refused, refusalText(error));
  }
});

function versionCommand(program: Command): void {
  program
    .command('version')
    .description('print the version')
    .action(() => printLine(`everynode ${VERSION} (node ${process.version})`));
}
