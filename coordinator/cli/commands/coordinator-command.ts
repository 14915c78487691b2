/** `everynode coordinator`: runs the coordinator, installs it as a service, or uninstalls it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createLogger, type Logger } from '../../../shared/process/output/logger.js';
import { untilStopSignal } from '../../../shared/process/service/program-lifecycle.js';
import { serviceManager } from '../../../shared/process/service/systemd-notify.js';
import { addSettingFlags } from '../../../shared/process/settings/settings-schema.js';
import {
  COORDINATOR_SETTINGS,
  type CoordinatorSettings,
  INSTALL_SETTINGS,
} from '../../coordinator-settings.js';
import type { RunningCoordinator } from '../../main.js';
import { MEMBER_FILE, PENDING_MEMBER_FILE } from '../../store/data-files.js';
import { trackFirstStart } from '../machine/first-start.js';
import { readSettings } from '../terminal/command-options.js';
import { addClusterizeCommand } from './clusterize-command.js';
import { addJoinCommands } from './coordinator-join-command.js';
import { addMembersCommands } from './coordinator-members-command.js';

export function coordinatorCommand(program: Command): void {
  const command = program
    .command('coordinator')
    .description('run the coordinator without an agent, or manage its service');
  addSettingFlags(command, COORDINATOR_SETTINGS);
  // Otherwise commander would parse the subcommands' flags.
  command
    .enablePositionalOptions()
    .option('--config <FILE>', 'YAML file with settings')
    .action(runCoordinator);
  addSettingFlags(command.command('install'), INSTALL_SETTINGS)
    .description('as root: run the coordinator as a systemd service; run again to change settings')
    .option('--release <DIR>', 'folder created by npm run release: the agent versions for hosts')
    .action(async (flags) => (await import('../machine/coordinator-service.js')).installCoordinator(flags));
  command
    .command('uninstall')
    .description('as root: stop the coordinator and remove its service')
    .option('--purge', 'also remove database, keys, backups, settings and user')
    .action(async (flags) => (await import('../machine/coordinator-service.js')).uninstallCoordinator(flags));
  addMembersCommands(command);
  addJoinCommands(command);
  addClusterizeCommand(command);
}

async function runCoordinator(flags: Record<string, unknown>): Promise<void> {
  const settings = await readSettings(COORDINATOR_SETTINGS, flags);
  const log = createLogger(settings.logLevel);
  // Imported here, because it would slow down the start of all other commands.
  const start = await starterOf(settings, log);
  const firstStart = trackFirstStart(settings.data);
  const coordinator = await start().catch((error: unknown) => {
    // Once etcd names this coordinator as the first of the fleet, it is the only one with the fleet's keys.
    const noted = [MEMBER_FILE, PENDING_MEMBER_FILE].some((name) => existsSync(join(settings.data, name)));
    if (!noted) firstStart.undo();
    throw error;
  });
  const manager = serviceManager(process.env);
  manager.ready(coordinator.server);
  await untilStopSignal();
  manager.stopping();
  await coordinator.stop();
}

/** gRPC is loaded only with etcd. */
async function starterOf(
  settings: CoordinatorSettings,
  log: Logger,
): Promise<() => Promise<RunningCoordinator>> {
  const { etcd } = settings;
  if (etcd === undefined) {
    const { startCoordinator } = await import('../../main.js');
    return () => startCoordinator(settings, log);
  }
  const { startMember } = await import('../../start-member.js');
  return () => startMember({ ...settings, etcd }, log);
}
