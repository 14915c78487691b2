/** `everynode coordinator uninstall`: leaves the machine as it was. */

import { existsSync, readdirSync, readlinkSync, rmdirSync, rmSync } from 'node:fs';
import { printLine } from '../../../shared/process/output/terminal-output.js';
import {
  commandSucceeds,
  requireSystemd,
  runCommandOnHost,
} from '../../../shared/process/service/host-commands.js';
import {
  COMMAND_LINK,
  CONFIG_DIR,
  CONFIG_FILE,
  DATA_DIR,
  PROGRAM,
  PROGRAM_DIR,
  SERVICE_UNIT,
  SERVICE_USER,
  UNIT_FILE,
} from './installed-paths.js';

/** Database and keys stay unless `purge`. Twice is harmless. Throws `ExitError`. */
export async function uninstallCoordinator({ purge = false }: { purge?: boolean }): Promise<void> {
  requireSystemd('everynode coordinator uninstall');
  commandSucceeds('systemctl', 'disable', '--quiet', '--now', SERVICE_UNIT);
  rmSync(UNIT_FILE, { force: true });
  runCommandOnHost('systemctl', 'daemon-reload');
  commandSucceeds('systemctl', 'reset-failed', SERVICE_UNIT);
  if (linksTo(COMMAND_LINK, PROGRAM)) rmSync(COMMAND_LINK);
  rmSync(PROGRAM_DIR, { recursive: true, force: true });
  if (!purge) {
    printLine(`· kept: ${DATA_DIR}, ${CONFIG_FILE}, the user ${SERVICE_USER} (--purge removes them)`);
    return;
  }
  rmSync(DATA_DIR, { recursive: true, force: true });
  rmSync(CONFIG_FILE, { force: true });
  if (existsSync(CONFIG_DIR) && readdirSync(CONFIG_DIR).length === 0) rmdirSync(CONFIG_DIR);
  commandSucceeds('userdel', SERVICE_USER);
  printLine('· nothing of the coordinator is left');
}

function linksTo(link: string, target: string): boolean {
  try {
    return readlinkSync(link) === target;
  } catch {
    return false;
  }
}
