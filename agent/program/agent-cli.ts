/** `everynode-agent`: what a host runs. */

import type { Command } from 'commander';
import { countText } from '../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { printLine } from '../../shared/process/output/terminal-output.js';
import { VERSION } from '../../shared/process/release-version.js';
import {
  runProgram,
  untilInputEnds,
  untilStopSignal,
} from '../../shared/process/service/program-lifecycle.js';
import { serviceManager } from '../../shared/process/service/systemd-notify.js';
import { createCommandLine, runCommandLine } from '../../shared/process/settings/command-line.js';
import {
  addSettingFlags,
  loadCommandSettings,
  type SettingsOf,
  type SettingsSchema,
} from '../../shared/process/settings/settings-schema.js';
import { type EngineLocations, requireEngine } from '../assembly/open-runtime.js';
import { STANDARD_INPUT } from '../identity/join-token-source.js';
import { SIMULATE_SETTINGS } from '../simulate/simulate-settings.js';
import { runService } from './agent-service.js';
import {
  AGENT_SETTINGS,
  DATA_SETTING,
  ENVIRONMENT_PREFIX,
  INSTALL_SETTINGS,
  NODE_SETTINGS,
  RUNTIME_SETTING,
} from './agent-settings.js';
import { otherAgentsText } from './other-agents.js';
import { removeContainers } from './remove-containers.js';

async function run(flags: Record<string, unknown>): Promise<void> {
  const settings = await readSettings(AGENT_SETTINGS, flags);
  if (settings.endWithInput && settings.tokenFile === STANDARD_INPUT) {
    throw new ExitError(EXIT_CODES.usage, '--token-file - and --end-with-input both need standard input.');
  }
  const stopSignal: Promise<string> = untilStopSignal();
  const stop = settings.endWithInput ? Promise.race([stopSignal, untilInputEnds()]) : stopSignal;
  await runService({
    settings,
    // Without a file there is nothing to read again, and a terminal that closes is to end the agent.
    ...(flags.config ? { reloadSettings: () => readSettings(AGENT_SETTINGS, flags) } : {}),
    engineLocations: enginePlaces(),
    manager: serviceManager(process.env),
    stop,
  });
}

async function installAgent(flags: Record<string, unknown>): Promise<void> {
  const { installedSettingsFile, runInstall } = await import('../install/install-commands.js');
  const settings = await readSettings(AGENT_SETTINGS, { ...flags, config: installedSettingsFile() });
  await runInstall(settings, flags, enginePlaces());
}

async function uninstallAgent(flags: { yes?: boolean; purge?: boolean }): Promise<void> {
  const { runUninstall } = await import('../install/install-commands.js');
  await runUninstall(flags);
}

async function check(flags: Record<string, unknown>): Promise<void> {
  const { runtime } = await readSettings(CHECKED_SETTINGS, flags);
  if (runtime === 'hollow') return;
  const { name, version } = await requireEngine({ runtime, ...enginePlaces() });
  printLine(`${name} ${version}`);
}

async function removeAll(flags: Record<string, unknown>): Promise<void> {
  const { data } = await readSettings(DATA_SETTING, flags);
  const count = await removeContainers(data);
  printLine(`${countText(count, 'container')} removed`);
  for (const line of await otherAgentsText(data)) printLine(line);
}

/** What `everynode up` hands on and wants to know to be right before it starts anything. */
const CHECKED_SETTINGS = { ...RUNTIME_SETTING, ...NODE_SETTINGS };

async function simulateFleet(flags: Record<string, unknown>): Promise<void> {
  const settings = await readSettings(SIMULATE_SETTINGS, flags);
  // Only a simulation carries its code.
  const { simulate } = await import('../simulate/simulate-fleet.js');
  await simulate(settings);
}

function readSettings<Schema extends SettingsSchema>(
  schema: Schema,
  flags: Record<string, unknown>,
): Promise<SettingsOf<Schema>> {
  return loadCommandSettings(schema, flags, ENVIRONMENT_PREFIX);
}

function enginePlaces(): EngineLocations {
  const { DOCKER_HOST, XDG_RUNTIME_DIR, HOME } = process.env;
  return {
    ...(DOCKER_HOST ? { dockerHost: DOCKER_HOST } : {}),
    ...(XDG_RUNTIME_DIR ? { runtimeDir: XDG_RUNTIME_DIR } : {}),
    ...(HOME ? { homeDir: HOME } : {}),
  };
}

function command(program: Command, name: string, description: string, schema: SettingsSchema): Command {
  const configOption = 'YAML file with settings';
  return addSettingFlags(program.command(name), schema)
    .description(description)
    .option('--config <FILE>', configOption);
}

const program = createCommandLine('everynode-agent', 'Runs this host’s share of an Everynode fleet.')
  .version(VERSION)
  .enablePositionalOptions();
addSettingFlags(program, AGENT_SETTINGS).option('--config <FILE>', 'YAML file with settings').action(run);
command(
  program,
  'check',
  'say which container engine answers, or what is wrong with the settings',
  CHECKED_SETTINGS,
).action(check);
command(program, 'remove-containers', "remove this fleet's containers from the engine", DATA_SETTING).action(
  removeAll,
);
addSettingFlags(program.command('install'), INSTALL_SETTINGS)
  .description('as root: make this host a node, as a service that systemd runs; again, to change settings')
  .option('--release-key <FILE>', 'key that signs releases: upgrades are accepted from its owner alone')
  .action(installAgent);
program
  .command('uninstall')
  .description('as root: stop the agent and its pods, and leave the host as it was')
  .option('--yes', 'stop and remove running pods without asking')
  .option('--purge', 'remove identity, settings and data as well')
  .action(uninstallAgent);
program
  .command('recover')
  .description('what systemd runs when the agent cannot be started: undo an upgrade, and try again')
  .option('--trial <ID>', 'only if this upgrade is still on trial')
  .action(async ({ trial }: { trial?: string }) =>
    (await import('../upgrade/recover-agent.js')).recover(trial),
  );

command(program, 'simulate', 'pretend to be a fleet: many agents in one process', SIMULATE_SETTINGS).action(
  simulateFleet,
);

void runProgram(() => runCommandLine(program, process.argv.slice(2)));
