/** Paths in a coordinator's data directory. */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReleasePaths } from './api/releases/release-trust.js';

export function kubeconfigPath(dataDir: string): string {
  return join(dataDir, 'kubeconfig');
}

/** Process id of the coordinator that holds the directory's lock. Stale if the directory is not locked. */
export function pidPath(dataDir: string): string {
  return join(dataDir, 'coordinator.pid');
}

/** Data directory of the agent that `up` runs. */
export function agentDataDir(dataDir: string): string {
  return join(dataDir, 'agent');
}

/** The trust file is stored with the other keys, so that every backup contains it. */
export function releasePaths(dataDir: string): ReleasePaths {
  return { directory: join(dataDir, 'release'), trustFile: join(dataDir, 'pki', 'release-trust.json') };
}

/** Name of the systemd credential with the encryption keys for Secrets. */
const SECRETS_KEY_CREDENTIAL = 'everynode-secrets-key';

/**
 * Returns the path of the encryption keys for Secrets: the option, else systemd's credential, else the default in the
 * data directory.
 */
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
 * Runs `work` with the file rights of the data directory's owner. Otherwise root would create files that the service's
 * user cannot read, and could follow a link of that user to a file outside.
 */
export async function asOwnerOf<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  const { uid, gid } = await stat(dataDir);
  const { seteuid, setegid } = process;
  if (process.geteuid?.() !== 0 || uid === 0 || !seteuid || !setegid) return work();
  const groupBefore = process.getegid?.() ?? 0;
  // The group is set first and restored last, because neither can be changed without root's user id.
  setegid(gid);
  seteuid(uid);
  try {
    return await work();
  } finally {
    seteuid(0);
    setegid(groupBefore);
  }
}
