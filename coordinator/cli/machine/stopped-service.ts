/** Runs a command on the data of the installed service: stops it, and starts it again with changed settings. */
import { existsSync, readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { printLine } from '../../../shared/process/output/terminal-output.js';
import {
  commandSucceeds,
  installFile,
  requireSystemd,
  runCommandOnHost,
} from '../../../shared/process/service/host-commands.js';
import { asOwnerOf } from '../../coordinator-data-dir.js';
import { defaultDataDir } from '../../coordinator-settings.js';
import { CONFIG_FILE, DATA_DIR, SERVICE_UNIT, SERVICE_USER } from './coordinator-service.js';
import { updateEtcdDropIn } from './etcd-drop-in.js';

/** Settings to write; undefined: to remove. */
type SettingChanges = Readonly<Record<string, string | undefined>>;

/** Returns the settings file of the installed service if `dataDir` (absent: the default) is its data directory. */
export function serviceConfig(dataDir: unknown): string | undefined {
  const isOfService = (dataDir ?? defaultDataDir()) === DATA_DIR;
  return isOfService && existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined;
}

/** True if `dataDir` belongs to the installed service and the service runs. */
function isServiceRunning(dataDir: string): boolean {
  return dataDir === DATA_DIR && commandSucceeds('systemctl', 'is-active', '--quiet', SERVICE_UNIT);
}

/**
 * Runs `work` with the rights of the directory's owner while the service is stopped, then changes its settings and
 * starts it. If `work` fails, the service starts as before. Without a running service, only runs `work`.
 */
export async function withServiceStopped<T>(
  dataDir: string,
  changes: SettingChanges,
  work: () => Promise<T>,
): Promise<{ result: T; isService: boolean }> {
  if (!isServiceRunning(dataDir)) return { result: await asOwnerOf(dataDir, work), isService: false };
  requireSystemd('a change of the installed coordinator');
  printLine(`· stopping ${SERVICE_UNIT}`);
  runCommandOnHost('systemctl', 'stop', SERVICE_UNIT);
  try {
    const result = await asOwnerOf(dataDir, work);
    changeSettings(changes);
    return { result, isService: true };
  } finally {
    printLine(`· starting ${SERVICE_UNIT}`);
    // Returns when the coordinator serves or stands by (Type=notify).
    runCommandOnHost('systemctl', 'start', SERVICE_UNIT);
  }
}

function changeSettings(changes: SettingChanges): void {
  const document = parseDocument(readFileSync(CONFIG_FILE, 'utf8'));
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) document.delete(key);
    else document.set(key, value);
  }
  const text = document.toString();
  installFile(CONFIG_FILE, text, 0o640);
  runCommandOnHost('chown', `root:${SERVICE_USER}`, CONFIG_FILE);
  if (updateEtcdDropIn(text)) runCommandOnHost('systemctl', 'daemon-reload');
}
