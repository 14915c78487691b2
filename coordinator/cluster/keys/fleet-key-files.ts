/** Reads the keys of the fleet from a data directory and writes them there. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  makePrivateDirectory,
  readIfPresent,
  removePrivateFile,
  writePrivateFile,
} from '../../../shared/process/files/private-file.js';
import { changesTo, FLEET_KEY_FILES, type FleetKeys, FleetKeysError, KUBECONFIG } from './fleet-keys.js';
import { withServers } from './member-kubeconfig.js';

/** The version of the keys that this data directory has. Not one of the keys. */
export const KEYS_VERSION_FILE = 'fleet-keys.json';

/** Returns the keys with the version that the directory has; 0 before the first `importFleetKeys`. */
export async function exportFleetKeys(dataDir: string): Promise<FleetKeys> {
  return { version: await readKeysVersion(dataDir), files: await readKeyFiles(dataDir) };
}

/**
 * Gives the directory the files of the bundle, then its version. The kubeconfig gets `server`, the address of the
 * coordinator of this directory: the address in the bundle is that of the leader's machine, which may die. Each file is
 * replaced atomically. After a crash in between, the version is still the old one, so the next call repeats the work.
 * Returns true if a file changed.
 */
export async function importFleetKeys(
  dataDir: string,
  { version, files }: FleetKeys,
  server: string,
): Promise<boolean> {
  makePrivateDirectory(join(dataDir, 'pki'));
  const kubeconfig = files.get(KUBECONFIG);
  const own = kubeconfig && Buffer.from(withServers(kubeconfig.toString(), [server]));
  const wanted = own ? new Map([...files, [KUBECONFIG, own]]) : files;
  const changes = changesTo(wanted, await readKeyFiles(dataDir));
  for (const [name, content] of changes) {
    const path = join(dataDir, name);
    await (content === undefined ? removePrivateFile(path) : writePrivateFile(path, content));
  }
  await writeKeysVersion(dataDir, version);
  return changes.length > 0;
}

/** Gives the kubeconfig of the directory another address of its own coordinator. */
export async function moveKubeconfig(dataDir: string, server: string): Promise<void> {
  const path = join(dataDir, KUBECONFIG);
  const text = await readIfPresent(path);
  if (text !== undefined) await writePrivateFile(path, withServers(text, [server]));
}

export async function writeKeysVersion(dataDir: string, version: number): Promise<void> {
  if ((await readKeysVersion(dataDir)) === version) return;
  await writePrivateFile(join(dataDir, KEYS_VERSION_FILE), `${JSON.stringify({ version })}\n`);
}

/** Throws FleetKeysError if Secrets are encrypted with a file that is not part of the bundle. */
export function requireBundledSecretsKey(dataDir: string, secretsKeyPath: string): void {
  const bundled = join(dataDir, 'pki', 'secrets.key');
  if (resolve(secretsKeyPath) === resolve(bundled)) return;
  throw new FleetKeysError(
    `several coordinators share the encryption keys of Secrets in ${bundled}, but the settings name ${secretsKeyPath}: copy that file there and remove the setting or the systemd credential`,
  );
}

/** An unreadable version counts as 0: the keys are imported again. */
async function readKeysVersion(dataDir: string): Promise<number> {
  try {
    const text = (await readIfPresent(join(dataDir, KEYS_VERSION_FILE))) ?? '{}';
    const { version } = JSON.parse(text) as { version?: unknown };
    return typeof version === 'number' && Number.isSafeInteger(version) ? version : 0;
  } catch (error) {
    if (error instanceof SyntaxError) return 0;
    throw error;
  }
}

async function readKeyFiles(dataDir: string): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const name of FLEET_KEY_FILES) {
    const bytes = await readFile(join(dataDir, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (bytes) files.set(name, bytes);
  }
  return files;
}
