/**
 * The releases that a coordinator accepts: signed by one key, and not older than a floor. Stored with the other keys,
 * so that backups contain it.
 */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { dirname } from 'node:path';
import {
  makePrivateDirectory,
  readIfPresent,
  writePrivateFile,
} from '../../../shared/process/files/private-file.js';
import { isReleaseVersion } from '../../../shared/process/release-version.js';
import { ReleaseError } from './signed-sums.js';

export interface ReleaseTrust {
  /** Ed25519 key of the releases, PEM. Absent before the first release. */
  key?: string;
  /** The oldest version that is accepted, served and run. Absent: every version. */
  floor?: string;
}

/** Paths of a coordinator's releases. */
export interface ReleasePaths {
  /** Contains a folder for each version. */
  directory: string;
  /** JSON of `ReleaseTrust`, mode 0600. */
  trustFile: string;
}

/**
 * Returns the stored trust; empty before the first release. Throws `ReleaseError` if the file is damaged, so that
 * nothing is trusted by mistake.
 */
export async function readTrust(path: string): Promise<ReleaseTrust> {
  const text = await readIfPresent(path);
  if (text === undefined) return {};
  try {
    const { key, floor } = JSON.parse(text) as Record<string, unknown>;
    const trust: ReleaseTrust = {};
    if (key !== undefined) trust.key = pemOf(releaseKey(String(key)));
    if (floor !== undefined) trust.floor = String(floor);
    if (trust.floor === undefined || isReleaseVersion(trust.floor)) return trust;
  } catch {
    // Throws the same error as for an invalid floor.
  }
  throw new ReleaseError(
    `${path} is damaged: restore it from a backup, or remove it and set the key again with everynode release trust`,
  );
}

export async function writeTrust(path: string, trust: ReleaseTrust): Promise<void> {
  makePrivateDirectory(dirname(path));
  await writePrivateFile(path, `${JSON.stringify(trust, undefined, 2)}\n`);
}

/** A change of the trust: another key, or another floor. The floor 0.0.0 allows every version. */
export type TrustChange = { key: string } | { floor: string };

/** Returns the trust after a change. Throws `ReleaseError` for an invalid key or version. */
export function changedTrust(before: ReleaseTrust, change: TrustChange): ReleaseTrust {
  if ('key' in change) return { ...before, key: pemOf(releaseKey(change.key)) };
  if (!isReleaseVersion(change.floor)) {
    throw new ReleaseError(`${change.floor} is not a version of the form 1.2.3 or 1.2.3-rc.1`);
  }
  const { floor: _, ...others } = before;
  return change.floor === '0.0.0' ? others : { ...others, floor: change.floor };
}

/** Parses an Ed25519 public key in PEM. Throws `ReleaseError` for anything else, private keys included. */
export function releaseKey(pem: string): KeyObject {
  if (!pem.trimStart().startsWith('-----BEGIN PUBLIC KEY-----')) {
    throw new ReleaseError('the release key is not a public key in PEM');
  }
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch {
    throw new ReleaseError('the release key is not a public key in PEM');
  }
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new ReleaseError(`the release key is of type ${key.asymmetricKeyType}, not ed25519`);
}

/** Returns the key as it is stored and as `install.sh` contains it. */
export function pemOf(key: KeyObject): string {
  return String(key.export({ type: 'spki', format: 'pem' })).trim();
}

/** Returns a short text by which people compare keys, like ssh. */
export function fingerprint(key: KeyObject): string {
  const der = key.export({ type: 'spki', format: 'der' });
  return `SHA256:${createHash('sha256').update(der).digest('base64').replace(/=+$/, '')}`;
}
