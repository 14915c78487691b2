/** Small releases of the agent, in the format of `npm run release`, signed by a key of the test. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { ReleasePaths } from '../../../coordinator/api/releases/release-trust.js';
import { releasePaths } from '../../../coordinator/coordinator-data-dir.js';

/** Go's name of this machine's architecture. */
const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

export interface ReleaseKey {
  privateKey: KeyObject;
  /** PEM. */
  publicKey: string;
}

export function newReleaseKey(): ReleaseKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { privateKey, publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })) };
}

/** Returns the file name of the agent that hosts of this architecture fetch. */
export function agentArchive(version: string): string {
  return `everynode-agent-${version}-linux-${ARCHITECTURE}.gz`;
}

/** Creates a release of one agent in `folder`. Returns the folder. */
export function makeRelease(folder: string, version: string, key: ReleaseKey, program = 'an agent'): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, agentArchive(version)), gzipSync(program));
  writeFileSync(join(folder, agentArchive(version).replace(/\.gz$/, '')), program);
  writeFileSync(join(folder, `everynode-${version}.tgz`), `the coordinator ${version}`);
  signRelease(folder, key);
  return folder;
}

/** Writes the list of all files of a folder, its signature and the key. */
export function signRelease(folder: string, key: ReleaseKey): void {
  const names = readdirSync(folder).filter((name) => name.startsWith('everynode-'));
  const lines = names.sort().map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`);
  signList(folder, lines.join(''), key);
}

/** Signs a list that the test has written. */
export function signList(folder: string, sums: string, { privateKey, publicKey }: ReleaseKey): void {
  writeFileSync(join(folder, 'SHA256SUMS'), sums);
  writeFileSync(
    join(folder, 'SHA256SUMS.sig'),
    `${sign(null, Buffer.from(sums), privateKey).toString('base64')}\n`,
  );
  writeFileSync(join(folder, 'release.pub'), publicKey);
}

/** Creates a data directory that trusts the key and contains the release, as after `everynode release add`. */
export function storedRelease(
  dataDir: string,
  version: string,
  key: ReleaseKey,
  program?: string,
): ReleasePaths {
  const places = releasePaths(dataDir);
  mkdirSync(join(dataDir, 'pki'), { recursive: true });
  writeFileSync(places.trustFile, JSON.stringify({ key: key.publicKey.trim() }));
  makeRelease(join(places.directory, version), version, key, program);
  return places;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
