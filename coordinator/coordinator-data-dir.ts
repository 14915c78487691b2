/** What lies where in a coordinator's data directory. */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReleasePaths } from './api/releases/release-trust.js';

/** The administrator's kubeconfig. */
export function kubeconfigPath(dataDir: string): string {
  return join(dataDir, 'kubeconfig');
}

/** Process id of the coordinator that holds the directory's lock; stale when none does. */
export function pidPath(dataDir: string): string {
  return join(dataDir, 'coordinator.pid');
}

/** The directory of the agent that `up` runs beside the coordinator. */
export function agentDataDir(dataDir: string): string {
  return join(dataDir, 'agent');
}

/** The releases that hosts are given, and which ones are trusted: the latter with the other keys, as part of every backup. */
export function releasePaths(dataDir: string): ReleasePaths {
  return { directory: join(dataDir, 'release'), trustFile: join(dataDir, 'pki', 'release-trust.json') };
}

/** The name of the systemd credential that holds the keys of Secrets. */
const SECRETS_KEY_CREDENTIAL = 'everynode-secrets-key';

/** The file with the keys of Secrets: the one named, else systemd's credential, else one beside the other keys. */
export function secretsKeyPath(
  { data, secretsKeyFile }: { data: string; secretsKeyFile?: string | undefined },
  environment: Record<string, string | undefined>,
): string {
  if (secretsKeyFile !== undefined) return secretsKeyFile;
  const { CREDENTIALS_DIRECTORY: directory } = environment;
  const credential = directory && join(directory, SECRETS_KEY_CREDENTIAL);
  return credential && existsSync(credential) ? credential : join(data, 'pki', 'secrets.key');
}

/**
 * Runs `work` with the file rights of the owner of the data directory. As root in a directory of another user, what `work` creates
 * is readable by the service, and a link that the service's user put there leads root nowhere that this user could not write itself.
 */
export async function asOwnerOf<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  const { uid, gid } = await stat(dataDir);
  const { seteuid, setegid } = process;
  if (process.geteuid?.() !== 0 || uid === 0 || !seteuid || !setegid) return work();
  const groupBefore = process.getegid?.() ?? 0;
  // The group first, and back last: without root's user id neither can be changed.
  setegid(gid);
  seteuid(uid);
  try {
    return await work();
  } finally {
    seteuid(0);
    setegid(groupBefore);
  }
}
