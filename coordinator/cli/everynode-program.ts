/** The command line of `everynode`: one command a file. */
import type { Command } from 'commander';
import { createCommandLine } from '../../shared/process/settings/command-line.js';
import { agentCommand } from './commands/agent-command.js';
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
import { simulateCommand } from './commands/simulate-command.js';
import { tokenCommand } from './commands/token-command.js';
import { upCommand } from './commands/up-command.js';
import { userCommand } from './commands/user-command.js';
import { versionCommand } from './commands/version-command.js';
import { whyCommand } from './commands/why-command.js';

const COMMANDS = [
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
];

/** Returns the program with all its commands. Nothing runs before it parses arguments. */
export function createEverynodeProgram(): Command {
  const program = createCommandLine('everynode', 'DaemonSets for machines that have no Kubernetes.');
  for (const addTo of COMMANDS) addTo(program);
  return program;
}
