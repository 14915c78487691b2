/** `everynode-agent`: the command line of a host. */

import { type Command, Option } from 'commander';
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
import { STANDARD_INPUT } from '../../shared/process/settings/join-token-source.js';
import {
  addSettingFlags,
  loadCommandSettings,
  type SettingsOf,
  type SettingsSchema,
} from '../../shared/process/settings/settings-schema.js';
import { type EngineLocations, requireEngine } from '../assembly/open-runtime.js';
import { SIMULATE_SETTINGS } from '../simulate/simulate-settings.js';
import { runService } from './agent-service.js';
import {
  AGENT_SETTINGS,
  type AgentSettings,
  DATA_SETTING,
  DOCTOR_SETTINGS,
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
    // Without a settings file SIGHUP keeps its default: the agent ends when its terminal closes.
    ...(flags.config ? { reloadSettings: () => reread(settings, flags) } : {}),
    engineLocations: enginePlaces(),
    manager: serviceManager(process.env),
    stop,
  });
}

/** Reads the settings file again. The variables of the proxy are those of the start: they were removed after reading. */
async function reread(
  { httpsProxy, noProxy }: AgentSettings,
  flags: Record<string, unknown>,
): Promise<AgentSettings> {
  return { ...(await readSettings(AGENT_SETTINGS, flags)), httpsProxy, noProxy };
}

async function installAgent(flags: Record<string, unknown>): Promise<void> {
  const { installedProxy, installedSettingsFile, runInstall } = await import(
    '../install/install-commands.js'
  );
  // Before the settings, which remove the variables from the environment.
  const proxy = installedProxy(process.env);
  const settings = await readSettings(AGENT_SETTINGS, { ...flags, config: installedSettingsFile() });
  await runInstall({ ...settings, ...proxy }, flags, enginePlaces());
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

async function diagnose(flags: Record<string, unknown> & { output?: string }): Promise<void> {
  const { installedProxy, installedSettingsFile } = await import('../install/install-commands.js');
  // Before the settings, which remove the variables from the environment.
  const proxy = installedProxy(process.env);
  // Flags win over the settings of an installed agent. Its file may contain any setting of the agent.
  const config = flags.config ?? installedSettingsFile();
  const settings = await readSettings(AGENT_SETTINGS, { ...flags, config });
  const { runDoctor } = await import('../doctor/doctor-command.js');
  await runDoctor({ ...settings, ...proxy }, enginePlaces(), flags.output === 'json');
}

async function removeAll(flags: Record<string, unknown>): Promise<void> {
  const { data } = await readSettings(DATA_SETTING, flags);
  const count = await removeContainers(data);
  printLine(`${countText(count, 'container')} removed`);
  // Loaded on demand: only removals need this code.
  const { removeHostNetwork } = await import('./remove-host-network.js');
  if (await removeHostNetwork()) printLine('rules of Services removed');
  for (const line of await otherAgentsText(data)) printLine(line);
}

/** Settings that `everynode up` passes on and has checked before it starts anything. */
const CHECKED_SETTINGS = { ...RUNTIME_SETTING, ...NODE_SETTINGS };

async function simulateFleet(flags: Record<string, unknown>): Promise<void> {
  const settings = await readSettings(SIMULATE_SETTINGS, flags);
  // Loaded on demand: only a simulation needs this code.
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

const program = createCommandLine('everynode-agent', 'Run this host as a node of an Everynode fleet.')
  .version(VERSION)
  .enablePositionalOptions();
addSettingFlags(program, AGENT_SETTINGS).option('--config <FILE>', 'YAML file with settings').action(run);
command(
  program,
  'check',
  'check the settings and print the container engine that answers',
  CHECKED_SETTINGS,
).action(check);
command(
  program,
  'doctor',
  'check engine, kernel, disk, identity, coordinators and clock of this host, and print remedies; changes nothing',
  DOCTOR_SETTINGS,
)
  .addOption(new Option('--output <FORMAT>', 'text or json').choices(['text', 'json']).default('text'))
  .action(diagnose);
command(program, 'remove-containers', "remove this fleet's containers from the engine", DATA_SETTING).action(
  removeAll,
);
addSettingFlags(program.command('install'), INSTALL_SETTINGS)
  .description(
    'as root: install this host as a node that runs as a systemd service; run again to change settings',
  )
  .option('--release-key <FILE>', 'public key that signs releases: only upgrades signed with it are accepted')
  .action(installAgent);
program
  .command('uninstall')
  .description('as root: stop the agent and its pods, and restore the host')
  .option('--yes', 'stop and remove running pods without asking')
  .option('--purge', 'remove identity, settings and data as well')
  .action(uninstallAgent);
program
  .command('recover')
  .description('run by systemd if the agent cannot start: undo an upgrade and start again')
  .option('--trial <ID>', 'only if this upgrade is still on trial')
  .action(async ({ trial }: { trial?: string }) =>
    (await import('../upgrade/recover-agent.js')).recover(trial),
  );

command(program, 'simulate', 'simulate a fleet: many agents in one process', SIMULATE_SETTINGS).action(
  simulateFleet,
);

void runProgram(() => runCommandLine(program, process.argv.slice(2)));
