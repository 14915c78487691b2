/** `everynode-agent recover`: run by systemd when the agent failed to start repeatedly. */

import { printErrorLine } from '../../shared/process/output/terminal-output.js';
import { commandSucceeds, runCommandOnHost } from '../../shared/process/service/host-commands.js';
import { DATA_DIR, DNS_SOCKET, SERVICE, VERSIONS_DIR } from '../install/install-paths.js';
import { InstalledVersions } from '../install/installed-versions.js';
import { rollBackUpgrade, upgradeTrialFile } from './agent-upgrades.js';

/** Delay before the next start if there is no upgrade to roll back. It gives the cause time to pass. */
const PAUSE_SECONDS = 60;

/**
 * Rolls back an upgrade on trial, and starts the agent again. With a trial's id, does nothing if that trial is over.
 * Throws `ExitError`.
 */
export async function recover(trialId?: string): Promise<void> {
  if (trialId !== undefined && upgradeTrialFile(DATA_DIR).read()?.id !== trialId) return;
  const version = rollBackUpgrade(new InstalledVersions(VERSIONS_DIR), upgradeTrialFile(DATA_DIR));
  printErrorLine(
    version
      ? `rolled back to agent ${version}`
      : 'no upgrade to roll back; starting the agent again in a minute',
  );
  if (version === undefined) runCommandOnHost('sleep', String(PAUSE_SECONDS));
  runCommandOnHost('systemctl', 'reset-failed', SERVICE);
  // systemd also gives up the socket of a service that failed too often. Older installations have none.
  commandSucceeds('systemctl', 'start', DNS_SOCKET);
  runCommandOnHost('systemctl', 'restart', '--no-block', SERVICE);
}
