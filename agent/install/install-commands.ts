/** The commands that set the agent up on a host and take it away; loaded when one of them is typed. */

import { existsSync } from 'node:fs';
import { printLine } from '../../shared/process/output/terminal-output.js';

import type { EngineLocations } from '../assembly/open-runtime.js';
import { type AgentSettings, INSTALL_SETTINGS } from '../program/agent-settings.js';
import { install } from './install.js';
import { CONFIG_FILE } from './install-paths.js';
import { uninstall } from './uninstall.js';

/** Flags of the commands beside the agent's own. */
interface InstallFlags {
  /** PEM file of the key that signs releases. */
  releaseKey?: string;
  yes?: boolean;
  purge?: boolean;
}

/** Where `install` reads what holds already. */
export function installedSettingsFile(): string | undefined {
  return existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined;
}

/** Settings of the join alone: later starts must not need the token's file. */
const OF_THE_JOIN = ['token', 'tokenFile'];

/** Installs with the settings; those that were typed go into the file, the token and its place do not. */
export async function runInstall(
  settings: AgentSettings,
  flags: Record<string, unknown> & InstallFlags,
  places: EngineLocations,
): Promise<void> {
  const typed = Object.keys(INSTALL_SETTINGS).filter(
    (key) => !OF_THE_JOIN.includes(key) && flags[key] !== undefined,
  );
  const given = Object.fromEntries(typed.map((key) => [key, String(flags[key])]));
  const { releaseKey } = flags;
  // Written down: a host that is renamed later stays the node that it is.
  const named = { ...given, nodeName: settings.nodeName };
  await install({
    settings,
    typedSettings: named,
    ...(releaseKey ? { releaseKey } : {}),
    places,
    report: say,
  });
}

/** Takes the agent off this host. */
export async function runUninstall({ yes = false, purge = false }: InstallFlags): Promise<void> {
  await uninstall({ yes, purge, report: say });
}

function say(text: string): void {
  printLine(`· ${text}`);
}
