#!/usr/bin/env node
/** The `everynode` program: one command a file. */
import { ApiError } from '../../shared/kube/status.js';
import { createCommandLine, runCommandLine } from '../../shared/process/command-line.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { runProgram } from '../../shared/process/lifecycle.js';
import { agentCommand } from './agent.js';
import { auditCommand } from './audit.js';
import { backupCommand } from './backup.js';
import { coordinatorCommand } from './coordinator.js';
import { downCommand } from './down.js';
import { nodeCommand } from './node.js';
import { planCommand } from './plan.js';
import { refusalText } from './refusal.js';
import { releaseCommand } from './release.js';
import { restoreCommands } from './restore.js';
import { rolloutCommand } from './rollout.js';
import { secretsKeyCommand } from './secrets-key.js';
import { simulateCommand } from './simulate.js';
import { tokenCommand } from './token.js';
import { upCommand } from './up.js';
import { userCommand } from './user.js';
import { versionCommand } from './version.js';
import { whyCommand } from './why.js';

await runProgram(async () => {
  const program = createCommandLine('everynode', 'DaemonSets for machines that have no Kubernetes.');
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
