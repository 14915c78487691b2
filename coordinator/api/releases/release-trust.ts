/**
 * The releases that a coordinator accepts: signed by one key, and not older than a floor. Stored with the other keys,
 * so that backups contain it.
 */
import { createHash, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import {
  makePrivateDirectory,
  readIfPresent,
  writePrivateFile,
} from '../../../shared/process/files/private-file.js';
import { isReleaseVersion } from '../../../shared/process/release-version.js';
import { ReleaseError } from './signed-sums.js';

/** Paths of the API. They are here because the command line does not load the API. */
export const RELEASES_PATH = `/apis/${FLEET_GROUP}/v1/releases`;
export const RELEASE_TRUST_PATH = `/apis/${FLEET_GROUP}/v1/releasetrust`;

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

/** The trust before and after a change. */
export interface TrustUpdate {
  before: ReleaseTrust;
  after: ReleaseTrust;
}

/**
 * Reads the trust, and writes what `change` returns unless it is the same object. A coordinator and a command with
 * `--data` can do this at the same time: there is no lock, so a change between this read and this write is lost. Read
 * as late as possible. An empty trust has no file.
 */
export async function updateTrust(
  path: string,
  change: (before: ReleaseTrust) => ReleaseTrust,
): Promise<TrustUpdate> {
  const before = await readTrust(path);
  const after = change(before);
  if (after === before) return { before, after };
  if (after.key === undefined && after.floor === undefined) await rm(path, { force: true });
  else await writeTrust(path, after);
  return { before, after };
}

/** With a fixed temporary name, two processes could write into the same file and rename a mixture. */
async function writeTrust(path: string, trust: ReleaseTrust): Promise<void> {
  makePrivateDirectory(dirname(path));
  const temporary = `${path}.${randomBytes(8).toString('hex')}.new`;
  try {
    await writePrivateFile(path, `${JSON.stringify(trust, undefined, 2)}\n`, temporary);
  } finally {
    await rm(temporary, { force: true });
  }
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

/** Returns the warning after a floor above the version of the coordinator. */
export function installScriptRefused(version: string): string {
  return `install.sh installs version ${version} on new hosts, so it is refused now`;
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
