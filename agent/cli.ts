#!/usr/bin/env -S node --no-expose-wasm --lite-mode --max-semi-space-size=1 --max-old-space-size=128
/** `everynode-agent`: what a host runs. */
import type { Command } from 'commander';
import { createProgram, runCommandLine } from '../shared/process/command-line.js';
import { runProgram, untilInputEnds, untilStopSignal } from '../shared/process/lifecycle.js';
import { createLogger } from '../shared/process/log.js';
import {
  addSettingFlags,
  loadSettings,
  type SettingsOf,
  type SettingsSchema,
} from '../shared/process/settings.js';
import { VERSION } from '../shared/process/version.js';
import { startAgent } from './main.js';
import { type EnginePlaces, requireEngine } from './open-runtime.js';
import { removeContainers } from './remove-containers.js';
import {
  AGENT_SETTINGS,
  DATA_SETTING,
  ENVIRONMENT_PREFIX,
  NODE_SETTINGS,
  RUNTIME_SETTING,
} from './settings.js';
import { SIMULATE_SETTINGS } from './simulate/settings.js';

async function run(flags: Record<string, unknown>): Promise<void> {
  const settings = await readSettings(AGENT_SETTINGS, flags);
  const log = createLogger(settings.logLevel).child({ node: settings.nodeName });
  const stopSignal: Promise<string> = untilStopSignal();
  const stop = settings.endWithInput ? Promise.race([stopSignal, untilInputEnds()]) : stopSignal;
  const agent = await startAgent(settings, enginePlaces(), log);
  log.info({ version: VERSION, server: settings.server, dataDir: settings.data }, 'agent started');
  const why = await stop;
  log.info({ why }, 'agent stops; containers keep running');
  await agent.stop();
}

async function check(flags: Record<string, unknown>): Promise<void> {
  const { runtime } = await readSettings(CHECKED_SETTINGS, flags);
  if (runtime === 'hollow') return;
  const { name, version } = await requireEngine({ runtime, ...enginePlaces() });
  process.stdout.write(`${name} ${version}\n`);
}

async function removeAll(flags: Record<string, unknown>): Promise<void> {
  const { data } = await readSettings(DATA_SETTING, flags);
  const count = await removeContainers(data);
  process.stdout.write(`${count} containers removed\n`);
}

/** What `everynode up` hands on and wants to know to be right before it starts anything. */
const CHECKED_SETTINGS = { ...RUNTIME_SETTING, ...NODE_SETTINGS };

async function simulateFleet(flags: Record<string, unknown>): Promise<void> {
  const settings = await readSettings(SIMULATE_SETTINGS, flags);
  // Only a simulation carries its code.
  const { simulate } = await import('./simulate/simulate.js');
  await simulate(settings);
}

function readSettings<Schema extends SettingsSchema>(
  schema: Schema,
  flags: Record<string, unknown>,
): Promise<SettingsOf<Schema>> {
  return loadSettings(schema, {
    flags,
    environment: process.env,
    environmentPrefix: ENVIRONMENT_PREFIX,
    file: typeof flags.config === 'string' ? flags.config : undefined,
  });
}

function enginePlaces(): EnginePlaces {
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

const program = createProgram('everynode-agent', 'Runs this host’s share of an Everynode fleet.')
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

command(program, 'simulate', 'pretend to be a fleet: many agents in one process', SIMULATE_SETTINGS).action(
  simulateFleet,
);

await runProgram(() => runCommandLine(program, process.argv.slice(2)));
