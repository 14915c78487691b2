/** The signed list of a release's files, `SHA256SUMS`. Pure. */
import { type KeyObject, verify } from 'node:crypto';
import { isReleaseVersion } from '../../../shared/process/release-version.js';

/** Names of the list and of its signature in a release's folder. */
export const SUMS_FILE = 'SHA256SUMS';
export const SIGNATURE_FILE = 'SHA256SUMS.sig';

/** A release has about ten files. */
const MAX_FILES = 64;
const LINE_PATTERN = /^([0-9a-f]{64}) {2}(everynode-[0-9A-Za-z.-]{1,100})$/;
const AGENT_PATTERN = /^everynode-agent-(.+)-linux-[0-9a-z]{1,16}(?:\.(?:gz|xz))?$/;

/** A signed list. */
export interface SignedSums {
  /** Version of all agents in the list. */
  version: string;
  /** SHA-256 in lower-case hex by file name. A name is a single path component. */
  sums: ReadonlyMap<string, string>;
}

/** The reason why a release is rejected, as the end of a sentence that names the release. */
export class ReleaseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReleaseError';
  }
}

/** The release is not at fault: its copy in the coordinator's data directory is incomplete. */
export class StagingLostError extends ReleaseError {}

/** True if `signature` (base64) is the key's signature of the list. */
export function isSignedBy(key: KeyObject, sums: Uint8Array, signature: string): boolean {
  const bytes = Buffer.from(signature.trim(), 'base64');
  return bytes.length === 64 && verify(null, sums, key, bytes);
}

/**
 * Parses a verified list. Throws `ReleaseError` for any content that `npm run release` does not
 * write.
 */
export function parseSums(text: string): SignedSums {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new ReleaseError(`${SUMS_FILE} does not end with a line break`);
  if (lines.length > MAX_FILES) throw new ReleaseError(`${SUMS_FILE} lists more than ${MAX_FILES} files`);
  const sums = new Map<string, string>();
  for (const line of lines) {
    const [, sum, name] = LINE_PATTERN.exec(line) ?? [];
    if (sum === undefined || name === undefined) {
      throw new ReleaseError(
        `${SUMS_FILE} has a line that is not "HASH  everynode-FILE": ${JSON.stringify(line)}`,
      );
    }
    if (sums.has(name)) throw new ReleaseError(`${SUMS_FILE} lists ${name} twice`);
    sums.set(name, sum);
  }
  return { version: versionOf([...sums.keys()]), sums };
}

/** Returns the version of all agents in the list. Throws `ReleaseError` if they differ. */
function versionOf(names: readonly string[]): string {
  const versions = new Set(names.map((name) => AGENT_PATTERN.exec(name)?.[1]));
  versions.delete(undefined);
  const [version, ...others] = versions;
  if (version === undefined) throw new ReleaseError(`${SUMS_FILE} lists no agent`);
  if (others.length > 0) {
    throw new ReleaseError(`${SUMS_FILE} lists agents of several versions: ${[...versions].join(', ')}`);
  }
  if (!isReleaseVersion(version)) {
    throw new ReleaseError(
      `${SUMS_FILE} lists agents of version ${JSON.stringify(version)}, which is not of the form 1.2.3 or 1.2.3-rc.1`,
    );
  }
  return version;
}
