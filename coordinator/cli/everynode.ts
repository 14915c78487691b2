#!/usr/bin/env node
/** The `everynode` program: one command a file. */
import { createProgram, runCommandLine } from '../../shared/process/command-line.js';
import { runProgram } from '../../shared/process/lifecycle.js';
import { agentCommand } from './agent.js';
import { backupCommand } from './backup.js';
import { coordinatorCommand } from './coordinator.js';
import { downCommand } from './down.js';
import { restoreCommands } from './restore.js';
import { simulateCommand } from './simulate.js';
import { tokenCommand } from './token.js';
import { upCommand } from './up.js';
import { versionCommand } from './version.js';
import { whyCommand } from './why.js';

await runProgram(async () => {
  const program = createProgram('everynode', 'DaemonSets for machines that have no Kubernetes.');
  for (const addTo of [
    upCommand,
    downCommand,
    coordinatorCommand,
    agentCommand,
    simulateCommand,
    tokenCommand,
    backupCommand,
    restoreCommands,
    whyCommand,
    versionCommand,
  ]) {
    addTo(program);
  }
  await runCommandLine(program, process.argv.slice(2));
});
