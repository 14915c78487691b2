/** `everynode demo`: a fleet of simulated hosts with a bad release and an offline site, and a tour of commands. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { untilStopSignal } from '../../../shared/process/service/program-lifecycle.js';
import { integerSetting, textSetting } from '../../../shared/process/settings/setting-values.js';
import {
  addSettingFlags,
  loadSettings,
  type SettingsOf,
} from '../../../shared/process/settings/settings-schema.js';
import { kubeconfigPath } from '../../coordinator-data-dir.js';
import { COORDINATOR_SETTINGS, defaultDataDir, ENVIRONMENT_PREFIX } from '../../coordinator-settings.js';
import { down } from '../commands/down-command.js';
import { oneCoordinator } from '../local-cluster/one-coordinator.js';
import { type Simulation, startSimulation } from '../machine/agent-process.js';
import { trackFirstStart } from '../machine/first-start.js';
import { readSettings } from '../terminal/command-options.js';
import { type Progress, terminalProgress } from '../terminal/terminal-progress.js';
import { tourLines } from './demo-tour.js';
import { buildDemo, demoFiles, demoToken, writeDemoFiles } from './run-demo.js';

/** Another port than that of a real coordinator on this machine. */
const DEMO_PORT = 7443;
const DEMO_SETTINGS = {
  data: textSetting('data directory of the demo', 'DIR', join(dirname(defaultDataDir()), 'everynode-demo')),
  port: integerSetting('TCP port of the API and the console, on this machine only', 'N', {
    min: 0,
    max: 65_535,
    default: DEMO_PORT,
  }),
};
type DemoSettings = SettingsOf<typeof DEMO_SETTINGS>;

export function demoCommand(program: Command): void {
  const command = program
    .command('demo')
    .description(
      'show what Everynode does: 200 simulated hosts in five sites, a bad release and an offline site, in the foreground',
    );
  addSettingFlags(command, DEMO_SETTINGS)
    .option('--clean', 'stop the demo and remove its data directory')
    .action(demo);
}

async function demo({ clean, ...flags }: Record<string, unknown>): Promise<void> {
  const settings = await readSettings(DEMO_SETTINGS, flags);
  const { data } = settings;
  refuseForeign(data, clean === true);
  if (clean) return down({ data, yes: true });
  const stopSignal = untilStopSignal();
  const progress = terminalProgress();
  const firstStart = trackFirstStart(data);
  try {
    writeDemoFiles(data);
    await serve(settings, { progress, stopSignal, keep: () => firstStart.keep() });
  } finally {
    if (firstStart.undo()) progress.print(`  nothing was kept: ${data} is unchanged`);
  }
}

/** The demo marks its directory, and --clean removes a marked one. So it must never mark one with files of the user. */
function refuseForeign(data: string, clean: boolean): void {
  if (existsSync(demoFiles(data).nodes)) return;
  const exists = existsSync(data);
  if (!clean && (!exists || readdirSync(data).length === 0)) return;
  const why = exists ? 'is not the data directory of a demo' : 'does not exist';
  const remedy = clean ? 'Name the directory of the demo with --data' : 'Name a new or empty one with --data';
  throw new ExitError(EXIT_CODES.usage, `${data} ${why}. Nothing was changed. ${remedy}.`);
}

interface Foreground {
  progress: Progress;
  stopSignal: Promise<unknown>;
  /** Called when the tour was printed. */
  keep: () => void;
}

/** Resolves when all programs have stopped after a signal. */
async function serve(settings: DemoSettings, { progress, stopSignal, keep }: Foreground): Promise<void> {
  // The hosts of the offline site are NotReady soon.
  const own = { host: '127.0.0.1', logLevel: 'error', nodeMonitorGracePeriod: '20s' };
  // The environment may be that of a real coordinator: the demo must not use its etcd, backups, certificates or issuer.
  const sources = { flags: { ...settings, ...own }, environment: {}, environmentPrefix: ENVIRONMENT_PREFIX };
  const coordinator = oneCoordinator(await loadSettings(COORDINATOR_SETTINGS, sources), progress);
  let hosts: Simulation | undefined;
  try {
    const api = await coordinator.start();
    const token = await demoToken(api, settings.data);
    const { nodes, fix } = demoFiles(settings.data);
    hosts = startSimulation(['--server', api.server, '--nodes', nodes], token);
    const failed = hosts.ended.then((end) => {
      throw new ExitError(EXIT_CODES.environment, `The simulated hosts have ended: ${end}.`);
    });
    failed.catch(() => undefined);
    const built = buildDemo({ api, hosts, progress });
    // After Ctrl-C its requests fail.
    built.catch(() => undefined);
    const isReady = await Promise.race([failed, stopSignal.then(() => false), built.then(() => true)]);
    if (!isReady) return;
    keep();
    announce(settings, api.server, fix, progress);
    await Promise.race([failed, stopSignal]);
  } finally {
    progress.print('· stopping');
    await hosts?.stop();
    await coordinator.stop();
  }
}

function announce({ data }: DemoSettings, server: string, fix: string, { print }: Progress): void {
  print('The demo runs. In another terminal:');
  print(`  export KUBECONFIG=${kubeconfigPath(data)}`);
  print(`  console: ${server}/console/`);
  for (const line of tourLines(fix)) print(line);
  print('Ctrl-C stops the demo; the same command continues it. everynode demo --clean removes it.');
}
