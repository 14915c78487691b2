/** `everynode-agent uninstall`: removes the agent from this host. */

import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { confirmAtTerminal } from '../../shared/process/output/terminal-output.js';
import {
  commandSucceeds,
  isAbsentOrOwnLink,
  requireSystemd,
  runCommandOnHost,
} from '../../shared/process/service/host-commands.js';
import { countPods, removeContainers } from '../program/remove-containers.js';
import { removeHostNetwork } from '../program/remove-host-network.js';
import { removeFolder } from '../volumes/pod-folders.js';
import {
  COMMAND_LINK,
  CONFIG_DIR,
  CONFIG_FILE,
  DATA_DIR,
  DNS_SOCKET,
  PROXY_FILE,
  RECOVERY_SERVICE,
  RELEASE_KEY_FILE,
  SERVICE,
  UNIT_DIR,
  VERSIONS_DIR,
} from './install-paths.js';

interface UninstallOptions {
  /** Stop and remove running Pods without confirmation. */
  yes: boolean;
  /** Also remove identity, settings and all stored state. The host then needs a token to join again. */
  purge: boolean;
  report: (text: string) => void;
}

/** Throws `ExitError` before any change when Pods run and the operator does not confirm. A second run does no harm. */
export async function uninstall({ yes, purge, report }: UninstallOptions): Promise<void> {
  requireSystemd('everynode-agent uninstall');
  const pods = await countPods(DATA_DIR);
  if (pods > 0 && !yes) await askForPods(pods);
  // The timer of an upgrade trial would start the agent again.
  commandSucceeds('systemctl', 'stop', 'everynode-agent-trial-*.timer', 'everynode-agent-trial-*.service');
  // The socket first: a query would start the agent again.
  for (const unit of [DNS_SOCKET, SERVICE, RECOVERY_SERVICE]) {
    commandSucceeds('systemctl', 'disable', '--quiet', '--now', unit);
    rmSync(`${UNIT_DIR}/${unit}`, { force: true });
  }
  runCommandOnHost('systemctl', 'daemon-reload');
  commandSucceeds('systemctl', 'reset-failed', SERVICE, RECOVERY_SERVICE, DNS_SOCKET);
  const containers = existsSync(DATA_DIR) ? await removeContainers(DATA_DIR) : 0;
  if (containers > 0) report(containers === 1 ? '1 container removed' : `${containers} containers removed`);
  if (await removeHostNetwork()) report('rules of Services removed');
  if (isAbsentOrOwnLink(COMMAND_LINK, VERSIONS_DIR)) rmSync(COMMAND_LINK, { force: true });
  rmSync(VERSIONS_DIR, { recursive: true, force: true });
  if (!purge) {
    report(`kept for a later installation: ${DATA_DIR}, ${CONFIG_FILE} (to remove them: --purge)`);
    return;
  }
  // `rmSync` would also remove the files of a disk that is mounted below. `removeFolder` refuses instead.
  await removeFolder(DATA_DIR);
  for (const file of [CONFIG_FILE, PROXY_FILE, RELEASE_KEY_FILE]) rmSync(file, { force: true });
  if (existsSync(CONFIG_DIR) && readdirSync(CONFIG_DIR).length === 0) rmdirSync(CONFIG_DIR);
  report(
    'removed all files of the agent. To delete its node and free the name: everynode node revoke NAME && kubectl delete node NAME',
  );
}

async function askForPods(pods: number): Promise<void> {
  const what = `${pods} ${pods === 1 ? 'pod runs' : 'pods run'} on this host`;
  const isConfirmed = await confirmAtTerminal(`${what}. Stop and remove them?`);
  if (isConfirmed) return;
  throw isConfirmed === undefined
    ? new ExitError(EXIT_CODES.usage, `${what}: pass --yes to stop and remove them. Nothing was changed.`)
    : new ExitError(EXIT_CODES.refused, 'Nothing was changed.');
}
