/**
 * The keys of the fleet as one bundle: what a coordinator needs besides the database to lead. Serving certificates are
 * not in it: each member has its own.
 */
import { createHash } from 'node:crypto';

/** Files below the data directory without which a leader would create keys that no host and no other member knows. */
const REQUIRED_FILES: readonly string[] = [
  'pki/ca.crt',
  'pki/ca.key',
  'pki/cluster.key',
  'pki/object-mac.key',
  'pki/secrets.key',
  'pki/service-accounts.key',
];

export const KUBECONFIG = 'kubeconfig';

/** All files of a bundle. A bundle writes no others, so that a manipulated one cannot replace a program's file. */
export const FLEET_KEY_FILES: readonly string[] = [
  ...REQUIRED_FILES,
  // The next and the previous authorities, during a rotation.
  'pki/ca-next.pem',
  'pki/ca-old.crt',
  'pki/release-trust.json',
  'pki/admin-token.sha256',
  KUBECONFIG,
  'ticket-keys',
];

const FORMAT = 1;
/** Limit of a cluster value, with base64 and the seal. */
const MAX_BYTES = 384 * 1024;

export interface FleetKeys {
  /** Rises with each change of the content. */
  readonly version: number;
  /** By name relative to the data directory. */
  readonly files: ReadonlyMap<string, Buffer>;
}

export class FleetKeysError extends Error {
  override name = 'FleetKeysError';
}

/** Throws FleetKeysError if a required file is missing. */
export function packFleetKeys({ version, files }: FleetKeys): Buffer {
  requireFiles(files);
  const texts = [...files].map(([name, bytes]) => [name, bytes.toString('base64')]);
  const packed = Buffer.from(JSON.stringify({ format: FORMAT, version, files: Object.fromEntries(texts) }));
  if (packed.length > MAX_BYTES) throw new FleetKeysError(`the keys have more than ${MAX_BYTES} bytes`);
  return packed;
}

/** Throws FleetKeysError for anything that `packFleetKeys` does not return. */
export function unpackFleetKeys(bytes: Uint8Array): FleetKeys {
  if (bytes.length > MAX_BYTES) throw new FleetKeysError(`the keys have more than ${MAX_BYTES} bytes`);
  const { format, version, files } = parsed(bytes);
  if (typeof format === 'number' && format > FORMAT) {
    throw new FleetKeysError('a newer version wrote the keys: upgrade this coordinator');
  }
  if (format !== FORMAT || !Number.isSafeInteger(version) || Number(version) < 1 || !isRecord(files)) {
    throw new FleetKeysError('the keys are not a bundle of this program');
  }
  const unpacked = new Map<string, Buffer>();
  for (const [name, text] of Object.entries(files)) {
    if (!FLEET_KEY_FILES.includes(name)) {
      throw new FleetKeysError(`${JSON.stringify(name)} must not be among the keys`);
    }
    if (typeof text !== 'string') throw new FleetKeysError(`${name} is not a text`);
    unpacked.set(name, Buffer.from(text, 'base64'));
  }
  requireFiles(unpacked);
  return { version: Number(version), files: unpacked };
}

/**
 * Returns the hash by which a change is detected. The kubeconfig is left out, because it contains the address of the
 * member that wrote it. A change of its token changes `admin-token.sha256`.
 */
export function contentHash(files: ReadonlyMap<string, Buffer>): string {
  const hash = createHash('sha256');
  for (const name of [...files.keys()].filter((each) => each !== KUBECONFIG).sort()) {
    const bytes = files.get(name) ?? Buffer.alloc(0);
    hash.update(`${name}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}

/** A file to write; `undefined` content: to remove. */
type KeyFileChange = readonly [name: string, content: Buffer | undefined];

/**
 * Returns the changes that give a data directory the files of the bundle. A kubeconfig is never removed. Pure.
 */
export function changesTo(
  wanted: ReadonlyMap<string, Buffer>,
  present: ReadonlyMap<string, Buffer>,
): KeyFileChange[] {
  const isSame = (name: string) =>
    wanted.get(name)?.toString('hex') === present.get(name)?.toString('hex') &&
    wanted.has(name) === present.has(name);
  return FLEET_KEY_FILES.filter((name) => !isSame(name))
    .filter((name) => name !== KUBECONFIG || wanted.has(KUBECONFIG))
    .map((name): KeyFileChange => [name, wanted.get(name)]);
}

function requireFiles(files: ReadonlyMap<string, Buffer>): void {
  const missing = REQUIRED_FILES.find((name) => !files.get(name)?.length);
  if (missing !== undefined) throw new FleetKeysError(`${missing} is missing among the keys`);
}

function parsed(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
