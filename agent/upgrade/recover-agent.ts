/** `everynode-agent recover`: what systemd runs when the agent could not be started again and again. */

import { printErrorLine } from '../../shared/process/output/terminal-output.js';
import { runCommandOnHost } from '../../shared/process/service/host-commands.js';
import { DATA_DIR, SERVICE, VERSIONS_DIR } from '../install/install-paths.js';
import { InstalledVersions } from '../install/installed-versions.js';
import { rollBackUpgrade, upgradeTrialFile } from './agent-upgrades.js';

/** Without an upgrade to blame, whatever is wrong is given so long to be put right. */
const PAUSE_SECONDS = 60;

/**
 * Puts the version before an upgrade back, if one is on trial, and starts the agent again. With a trial's id it does so for that
 * trial alone: one that is over needs nothing. Throws `ExitError`.
 */
export async function recover(trialId?: string): Promise<void> {
  if (trialId !== undefined && upgradeTrialFile(DATA_DIR).read()?.id !== trialId) return;
  const version = rollBackUpgrade(new InstalledVersions(VERSIONS_DIR), upgradeTrialFile(DATA_DIR));
  printErrorLine(version ? `back to agent ${version}` : 'the agent is started again in a minute');
  if (version === undefined) runCommandOnHost('sleep', String(PAUSE_SECONDS));
  runCommandOnHost('systemctl', 'reset-failed', SERVICE);
  runCommandOnHost('systemctl', 'restart', '--no-block', SERVICE);
}
