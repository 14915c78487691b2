/** The releases on the coordinator's disk. Each read verifies them again, so that a modified file is not served. */
import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import { compareVersions, isReleaseVersion } from '../../../shared/process/release-version.js';
import { type ReleasePaths, readTrust, releaseKey } from './release-trust.js';
import { isSignedBy, parseSums, SIGNATURE_FILE, type SignedSums, SUMS_FILE } from './signed-sums.js';

/** A release with a list that the trusted key signed. */
interface VerifiedRelease extends SignedSums {
  /** The verified text of `SHA256SUMS` and of its signature. */
  sumsText: string;
  signatureText: string;
  /** PEM of the signing key. */
  key: string;
}

/** Maximum number of cached hashes: a few files of a few versions. */
const MAX_HASHES = 256;

export class VerifiedReleases {
  readonly #places: ReleasePaths;
  readonly #log: Logger | undefined;
  /** Hashes by path, inode and times of a file, so that a file is hashed once for the downloads of a whole fleet. */
  readonly #hashes = new Map<string, Promise<string>>();

  constructor(places: ReleasePaths, log?: Logger) {
    this.#places = places;
    this.#log = log;
  }

  /** True if the release may be served. */
  async has(version: string): Promise<boolean> {
    try {
      await this.release(version);
      return true;
    } catch {
      return false;
    }
  }

  /** Throws ApiError: 404 unknown release, 403 below the floor, 503 if the files on disk were modified. */
  async release(version: string): Promise<VerifiedRelease> {
    if (!isReleaseVersion(version)) throw notFound(version);
    const { key, floor } = await this.#trust();
    if (floor !== undefined && compareVersions(version, floor) < 0) {
      throw new ApiError(
        'Forbidden',
        `agent ${version} is older than ${floor}, the oldest version that this coordinator allows (everynode release floor)`,
      );
    }
    const folder = join(this.#places.directory, version);
    const [sumsText, signatureText] = await Promise.all([
      readFile(join(folder, SUMS_FILE), 'utf8'),
      readFile(join(folder, SIGNATURE_FILE), 'utf8'),
    ]).catch(() => []);
    if (key === undefined || sumsText === undefined || signatureText === undefined) throw notFound(version);
    const why = whyRefused(version, { key, sumsText, signatureText });
    if (typeof why === 'string') throw this.#changed(version, why);
    return { ...why, sumsText, signatureText, key };
  }

  /** Opens a file of a release after verifying its hash. The caller must close it. Throws ApiError like `release`. */
  async open(version: string, name: string): Promise<{ file: FileHandle; size: number }> {
    const sum = (await this.release(version)).sums.get(name);
    if (sum === undefined) throw notFound(version, name);
    const path = join(this.#places.directory, version, name);
    const file = await open(path, 'r').catch(() => undefined);
    if (!file) throw notFound(version, name);
    try {
      const { size, ...state } = await file.stat({ bigint: true });
      const key = [path, state.dev, state.ino, size, state.mtimeNs, state.ctimeNs].join(' ');
      if ((await this.#hash(key, file)) !== sum) {
        throw this.#changed(version, `${name} does not have the signed hash`);
      }
      return { file, size: Number(size) };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  #hash(key: string, file: FileHandle): Promise<string> {
    const known = this.#hashes.get(key);
    if (known) return known;
    if (this.#hashes.size >= MAX_HASHES) this.#hashes.clear();
    const hashed = hashOf(file);
    this.#hashes.set(key, hashed);
    // The next read may succeed.
    hashed.catch(() => this.#hashes.delete(key));
    return hashed;
  }

  async #trust() {
    try {
      return await readTrust(this.#places.trustFile);
    } catch (error) {
      this.#log?.error({ err: error }, 'no release is served');
      throw new ApiError('ServiceUnavailable', 'this coordinator cannot read its release trust file');
    }
  }

  #changed(version: string, why: string): ApiError {
    this.#log?.error({ version, why }, 'release not served: add it again with everynode release add');
    return new ApiError(
      'ServiceUnavailable',
      `release ${version} is not served: ${why}; add it again with everynode release add`,
    );
  }
}

/** Returns the verified list, or the reason why it is not a signed list of this version. */
function whyRefused(
  version: string,
  { key, sumsText, signatureText }: Pick<VerifiedRelease, 'key' | 'sumsText' | 'signatureText'>,
): SignedSums | string {
  if (!isSignedBy(releaseKey(key), Buffer.from(sumsText), signatureText)) {
    return `${SUMS_FILE} is not signed by the trusted release key`;
  }
  try {
    const signed = parseSums(sumsText);
    return signed.version === version ? signed : `${SUMS_FILE} lists version ${signed.version}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function hashOf(file: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(file.createReadStream({ start: 0, autoClose: false }), hash);
  return hash.digest('hex');
}

function notFound(version: string, name?: string): ApiError {
  if (name !== undefined) return new ApiError('NotFound', `there is no file ${name} of version ${version}`);
  return new ApiError(
    'NotFound',
    `this coordinator has no release ${version} of the agent: build it with npm run release, then run everynode release add DIR`,
  );
}
