/**
 * `everynode coordinator install|uninstall`: the coordinator as a systemd service. If `install` is killed at any point,
 * repeating it completes the installation.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refuseOnErrors } from '../../../shared/doctor/doctor-report.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printLine } from '../../../shared/process/output/terminal-output.js';
import { VERSION } from '../../../shared/process/release-version.js';
import {
  commandSucceeds,
  installFile,
  installLink,
  requireSystemd,
  runCommandOnHost,
} from '../../../shared/process/service/host-commands.js';
import { updateSettingsFile } from '../../../shared/process/settings/settings-file.js';
import { kubeconfigPath } from '../../coordinator-data-dir.js';
import { COORDINATOR_SETTINGS, INSTALL_SETTINGS } from '../../coordinator-settings.js';
import { coordinatorFindings } from '../../decisions/doctor/coordinator-findings.js';
import { withExitErrors } from '../../exit-errors.js';
import { BACKUPS_DIRECTORY, backupName, takeBackup } from '../../store/backup/take-backup.js';
import { DATABASE_FILE } from '../../store/data-files.js';
import { apiClientFromKubeconfig } from '../client/api-client.js';
import { addReleaseFolder, requireRelease } from '../commands/release-command.js';
import { createToken } from '../commands/token-command.js';
import { gatherCoordinatorFacts } from '../doctor/gather-coordinator-facts.js';
import { readSettings } from '../terminal/command-options.js';
import { removeEtcdDropIn, updateEtcdDropIn } from './etcd-drop-in.js';

/** The service's user. It has no login shell. */
export const SERVICE_USER = 'everynode';
export const DATA_DIR = '/var/lib/everynode';
const CONFIG_DIR = '/etc/everynode';
export const CONFIG_FILE = `${CONFIG_DIR}/coordinator.yaml`;
export const SERVICE_UNIT = 'everynode-coordinator.service';
const UNIT_FILE = `/etc/systemd/system/${SERVICE_UNIT}`;
/** The unit starts the program here, so that it does not contain the path of an npm package. */
const PROGRAM_DIR = '/usr/local/lib/everynode';
const PROGRAM = `${PROGRAM_DIR}/everynode`;
/** For users; created only if npm has not installed the command here. */
const COMMAND_LINK = '/usr/local/bin/everynode';
/** Node, which is part of the `.deb` and `.rpm`. The package manager updates and removes their command and unit. */
const PACKAGED_NODE = '/usr/lib/everynode/bin/node';

const HEAD = `# Settings of the Everynode coordinator. List them with: everynode coordinator --help
# Apply changes with: systemctl restart everynode-coordinator
`;
/** The installation repairs owners and modes, and takes a backup itself. */
const REPAIRED_BY_INSTALL: readonly string[] = ['data directory', 'backup'];
const TOKEN_SECONDS = 24 * 60 * 60;

/** Throws `ExitError`. Missing requirements are reported before anything is changed. */
export async function installCoordinator(
  flags: Record<string, unknown> & { release?: string },
): Promise<void> {
  requireSystemd('everynode coordinator install');
  const given = typedSettings(flags);
  // Rejects invalid settings before anything is changed.
  const config = presentSettings() && CONFIG_FILE;
  const settings = await readSettings(COORDINATOR_SETTINGS, { ...flags, config });
  const facts = await gatherCoordinatorFacts({ ...settings, data: DATA_DIR });
  refuseOnErrors(coordinatorFindings(facts), (text) => printLine(`· ${text}`), REPAIRED_BY_INSTALL);
  if (flags.release) await requireRelease(flags.release, DATA_DIR);
  if (!commandSucceeds('id', '-u', SERVICE_USER)) {
    const options = ['--system', '--user-group', '--home-dir', DATA_DIR, '--no-create-home'];
    runCommandOnHost('useradd', ...options, '--shell', '/usr/sbin/nologin', SERVICE_USER);
  }
  const isPackaged = process.execPath === PACKAGED_NODE;
  // A unit of an earlier npm installation would hide the package's unit.
  if (isPackaged) removeProgram();
  else installProgram();
  const text = updateSettingsFile(presentSettings(), HEAD, given);
  installFile(CONFIG_FILE, text, 0o640);
  runCommandOnHost('chown', `root:${SERVICE_USER}`, CONFIG_FILE);
  runCommandOnHost('install', '-d', '-m', '0700', '-o', SERVICE_USER, '-g', SERVICE_USER, DATA_DIR);
  await backUp();
  if (flags.release) await addReleaseFolder(flags.release, DATA_DIR);
  // Files that root created, e.g. by a backup or restore, must be readable by the service.
  runCommandOnHost('chown', '-R', `${SERVICE_USER}:${SERVICE_USER}`, DATA_DIR);
  if (!isPackaged) installFile(UNIT_FILE, readFileSync(unitSource()));
  updateEtcdDropIn(text);
  runCommandOnHost('systemctl', 'daemon-reload');
  runCommandOnHost('systemctl', 'enable', '--quiet', SERVICE_UNIT);
  printLine('· starting the coordinator');
  // Returns when the coordinator serves (Type=notify).
  runCommandOnHost('systemctl', 'restart', SERVICE_UNIT);
  await announce(typeof flags.advertise === 'string' ? flags.advertise : undefined);
}

/**
 * Backs up the data of the installed version, because that version cannot read a database that this version has
 * upgraded.
 */
async function backUp(): Promise<void> {
  if (!existsSync(join(DATA_DIR, DATABASE_FILE))) return;
  const now = Date.now();
  const path = join(DATA_DIR, BACKUPS_DIRECTORY, backupName('manual', now));
  await withExitErrors(() => takeBackup(DATA_DIR, path, now));
  printLine(`· backup: ${path}`);
}

/**
 * Installs a command at a fixed path that starts this installation. The service's user must be able to read the
 * installation.
 */
function installProgram(): void {
  const script = fileURLToPath(new URL('../everynode.js', import.meta.url));
  const words = [process.execPath, script].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  installFile(PROGRAM, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, 0o755);
  if (!existsSync(COMMAND_LINK)) installLink(COMMAND_LINK, PROGRAM);
  if (commandSucceeds('runuser', '-u', SERVICE_USER, '--', PROGRAM, 'version')) return;
  throw new ExitError(
    EXIT_CODES.environment,
    `The user ${SERVICE_USER} cannot run ${script}: install the package where all users can read it (npm install -g).`,
  );
}

function unitSource(): string {
  return fileURLToPath(new URL(`../../../../systemd/${SERVICE_UNIT}`, import.meta.url));
}

function typedSettings(flags: Record<string, unknown>): Record<string, string> {
  const typed = Object.keys(INSTALL_SETTINGS).filter((key) => flags[key] !== undefined);
  return { ...Object.fromEntries(typed.map((key) => [key, String(flags[key])])), data: DATA_DIR };
}

function presentSettings(): string | undefined {
  return existsSync(CONFIG_FILE) ? readFileSync(CONFIG_FILE, 'utf8') : undefined;
}

async function announce(advertise: string | undefined): Promise<void> {
  const api = apiClientFromKubeconfig(kubeconfigPath(DATA_DIR));
  // Printed once for the first hosts. It joins any number of hosts within 24 hours.
  const options = {
    ttlSeconds: TOKEN_SECONDS,
    description: 'coordinator install',
    reusable: true,
    advertise,
  };
  const token = await createToken(api, options);
  printLine(
    `everynode-coordinator ${VERSION} serves ${api.server}; log: journalctl -u everynode-coordinator`,
  );
  printLine(`  export KUBECONFIG=${kubeconfigPath(DATA_DIR)}`);
  printLine('Run on each host within 24 hours:');
  printLine(`  ${token.line}`);
}

/** Keeps database and keys unless `purge`. Idempotent. Throws `ExitError`. */
export async function uninstallCoordinator({ purge = false }: { purge?: boolean }): Promise<void> {
  requireSystemd('everynode coordinator uninstall');
  commandSucceeds('systemctl', 'disable', '--quiet', '--now', SERVICE_UNIT);
  removeProgram();
  removeEtcdDropIn();
  runCommandOnHost('systemctl', 'daemon-reload');
  commandSucceeds('systemctl', 'reset-failed', SERVICE_UNIT);
  if (!purge) {
    printLine(`· kept ${DATA_DIR}, ${CONFIG_FILE} and the user ${SERVICE_USER}; --purge removes them`);
    return;
  }
  rmSync(DATA_DIR, { recursive: true, force: true });
  rmSync(CONFIG_FILE, { force: true });
  if (existsSync(CONFIG_DIR) && readdirSync(CONFIG_DIR).length === 0) rmdirSync(CONFIG_DIR);
  commandSucceeds('userdel', SERVICE_USER);
  printLine('· the coordinator is removed');
}

/** Removes what `installProgram` and `installCoordinator` created outside of the data and settings. */
function removeProgram(): void {
  rmSync(UNIT_FILE, { force: true });
  if (linksTo(COMMAND_LINK, PROGRAM)) rmSync(COMMAND_LINK);
  rmSync(PROGRAM_DIR, { recursive: true, force: true });
}

function linksTo(link: string, target: string): boolean {
  try {
    return readlinkSync(link) === target;
  } catch {
    return false;
  }
}
