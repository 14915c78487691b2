/** A serving certificate of the operator, or the certificate authority of a proxy in front of the coordinator. */
import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { certificatesIn, type KeyPair } from './key-pair.js';

/** Paths from the settings. */
interface SuppliedPaths {
  tlsCertFile?: string | undefined;
  tlsPrivateKeyFile?: string | undefined;
  tlsCaFile?: string | undefined;
}

export interface Supplied {
  /** Absent if only a proxy's authority is configured. */
  serving?: KeyPair;
  /** PEM of the authorities by which hosts and clients verify the server. */
  ca: string;
}

/** Reads the files, or returns undefined if none is configured. Throws `ExitError` that names the invalid file. */
export async function readSupplied(paths: SuppliedPaths): Promise<Supplied | undefined> {
  const { tlsCertFile, tlsPrivateKeyFile, tlsCaFile } = paths;
  if ((tlsCertFile === undefined) !== (tlsPrivateKeyFile === undefined)) {
    throw new ExitError(EXIT_CODES.usage, '--tls-cert-file and --tls-private-key-file must be set together.');
  }
  const named = tlsCaFile === undefined ? '' : await readCertificates('--tls-ca-file', tlsCaFile);
  if (tlsCertFile === undefined || tlsPrivateKeyFile === undefined) return named ? { ca: named } : undefined;
  const cert = await readCertificates('--tls-cert-file', tlsCertFile);
  const key = await readText('--tls-private-key-file', tlsPrivateKeyFile);
  checkKey(cert, key);
  // The last certificate of a chain is the root of trust.
  return { serving: { cert, key }, ca: named || (certificatesIn(cert).at(-1)?.toString() ?? '') };
}

function checkKey(cert: string, key: string): void {
  try {
    if (certificatesIn(cert)[0]?.checkPrivateKey(createPrivateKey(key))) return;
  } catch {
    throw new ExitError(EXIT_CODES.usage, '--tls-private-key-file: contains no private key in PEM.');
  }
  throw new ExitError(EXIT_CODES.usage, '--tls-private-key-file: does not match --tls-cert-file.');
}

async function readCertificates(flag: string, path: string): Promise<string> {
  const text = await readText(flag, path);
  try {
    const certificates = certificatesIn(text);
    if (certificates.length > 0) return certificates.map((each) => each.toString()).join('');
  } catch {
    // The error is reported below.
  }
  throw new ExitError(EXIT_CODES.usage, `${flag}: ${path} contains no certificate in PEM.`);
}

async function readText(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT_CODES.usage, `${flag}: ${why}.`);
  }
}
