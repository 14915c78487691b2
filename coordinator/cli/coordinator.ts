/** `everynode coordinator`: the coordinator alone, as a service runs it. */
import type { Command } from 'commander';
import { untilStopSignal } from '../../shared/process/lifecycle.js';
import { createLogger } from '../../shared/process/log.js';
import { addSettingFlags } from '../../shared/process/settings.js';
import { COORDINATOR_SETTINGS } from '../settings.js';
import { readSettings } from './read-settings.js';

/** Adds the command. */
export function coordinatorCommand(program: Command): void {
  const command = program.command('coordinator').description('run the coordinator alone, as a service does');
  addSettingFlags(command, COORDINATOR_SETTINGS);
  command.option('--config <FILE>', 'YAML file with settings').action(runCoordinator);
}

async function runCoordinator(flags: Record<string, unknown>): Promise<void> {
  const settings = await readSettings(COORDINATOR_SETTINGS, flags);
  const log = createLogger(settings.logLevel);
  // Loaded here, so that the other commands need not wait for it.
  const { startCoordinator } = await import('../main.js');
  const coordinator = await startCoordinator(settings, log);
  await untilStopSignal();
  await coordinator.stop();
}
