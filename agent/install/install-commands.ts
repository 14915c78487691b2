/** The commands `install` and `uninstall`. Loaded only when one of them is called. */

import { existsSync } from 'node:fs';
import type { ProxySettings } from '../../shared/link/forward-proxy/proxy-settings.js';
import { printLine } from '../../shared/process/output/terminal-output.js';

import type { EngineLocations } from '../assembly/open-runtime.js';
import { type AgentSettings, INSTALL_SETTINGS } from '../program/agent-settings.js';
import { install } from './install.js';
import { CONFIG_FILE, PROXY_FILE } from './install-paths.js';
import { givenProxy, proxyWithChanges } from './proxy-file.js';
import { uninstall } from './uninstall.js';

/** Flags of the commands in addition to the agent's settings. */
interface InstallFlags {
  /** PEM file of the key that signs releases. */
  releaseKey?: string;
  yes?: boolean;
  purge?: boolean;
}

/** Returns the settings file of an earlier installation. */
export function installedSettingsFile(): string | undefined {
  return existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined;
}

/** Returns the proxy of an earlier installation, changed by the environment of this one. Throws `ExitError`. */
export function installedProxy(environment: NodeJS.ProcessEnv): ProxySettings {
  return proxyWithChanges(PROXY_FILE, givenProxy(environment));
}

/** Settings that only the join needs: later starts must not require the token's file. */
const JOIN_SETTINGS = ['token', 'tokenFile'];

/** Installs, and writes the typed settings to the file, except the token and the name of its file. */
export async function runInstall(
  settings: AgentSettings,
  flags: Record<string, unknown> & InstallFlags,
  places: EngineLocations,
): Promise<void> {
  const typed = Object.keys(INSTALL_SETTINGS).filter(
    (key) => !JOIN_SETTINGS.includes(key) && flags[key] !== undefined,
  );
  const typedSettings = Object.fromEntries(typed.map((key) => [key, String(flags[key])]));
  const { releaseKey } = flags;
  // Stored, so that the node keeps its name when the host is renamed.
  const named = { ...typedSettings, nodeName: settings.nodeName };
  await install({
    settings,
    typedSettings: named,
    ...(releaseKey ? { releaseKey } : {}),
    places,
    report: report,
  });
}

export async function runUninstall({ yes = false, purge = false }: InstallFlags): Promise<void> {
  await uninstall({ yes, purge, report: report });
}

function report(text: string): void {
  printLine(`· ${text}`);
}
