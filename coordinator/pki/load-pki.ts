/** Loads the fleet's certificate authority and the API's serving certificate from `DATA/pki`. */
import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { publicKeyHash } from '../../shared/link/public-key-hash.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';
import { generateKeyPem, importKey, SIGNATURE_ALGORITHM } from '../../shared/process/files/private-key.js';
import { ensureValidCa, isReissued, makeCaCertificate } from './ca-certificate.js';
import { finishRotation, rotate } from './ca-rotation.js';
import { issuerName } from './client-certificates.js';
import {
  certificatesIn,
  days,
  type KeyPair,
  MAX_CLOCK_ERROR_DAYS,
  serialNumber,
  validity,
} from './key-pair.js';
import type { Supplied } from './supplied-certificates.js';

const SERVING_DAYS = 365;
/** Renew the serving certificate when it is valid for less than this. */
const RENEW_BEFORE_DAYS = 60;

export interface Pki {
  /** The present authority, which signs. */
  ca: KeyPair;
  /**
   * True if the authority's certificate was not valid at the present time and has just been reissued for the same key.
   */
  isCaReissued: boolean;
  /** PEM of the authorities of accepted client certificates: the present one, the next, and previous ones. */
  authorities: string;
  /** PEM by which hosts and clients verify the server. The authority pinned by join tokens comes first. */
  trustBundle: string;
  /** The bundle for hosts that may have missed a change: during a rotation, or after the authority was reissued. */
  trustBundleToResend: string | undefined;
  /** The chain includes the authority's certificate, because a joining agent knows only the hash of its key. */
  serving: KeyPair;
  /** Hex SHA-256 of the first authority's public key (SubjectPublicKeyInfo DER). Join tokens pin it. */
  caHash: string;
}

async function makeServingCertificate(
  ca: KeyPair,
  keyPem: string,
  names: readonly string[],
  { earliest, latest }: { earliest: number; latest: number },
): Promise<string> {
  const caKeys = await importKey(ca.key);
  const keys = await importKey(keyPem);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: 'CN=everynode',
    issuer: issuerName(new X509Certificate(ca.cert)),
    ...validity(earliest, latest - earliest + days(SERVING_DAYS)),
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: SIGNATURE_ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value })),
      ),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** Returns why the serving certificate must be renewed, or undefined if it is valid. */
export function renewalReason(
  certificatePem: string,
  ca: KeyPair,
  names: readonly string[],
  now: number,
): string | undefined {
  const certificate = new X509Certificate(certificatePem);
  if (!certificate.verify(new X509Certificate(ca.cert).publicKey))
    return 'it was signed by another authority';
  if (Date.parse(certificate.validTo) - now < days(RENEW_BEFORE_DAYS)) return 'it expires soon';
  if (Date.parse(certificate.validFrom) > now) return 'it is not valid yet';
  const missing = names.find((name) =>
    isIP(name) ? !certificate.checkIP(name) : !certificate.checkHost(name, { wildcards: false }),
  );
  return missing === undefined ? undefined : `it does not contain the name ${missing}`;
}

/** Every authority needs its own name, because clients build certificate chains by name. */
async function makeCa(now: number): Promise<KeyPair> {
  const key = await generateKeyPem();
  const name = `CN=everynode-ca-${new Date(now).toISOString().slice(0, 10)}`;
  return { key, cert: await makeCaCertificate(key, now, name) };
}

/** Agents pin the key. A lost certificate can be reissued for the key, but a lost key cannot be replaced. */
async function loadCa(directory: string, now: number): Promise<KeyPair> {
  const [cert, key] = await Promise.all([
    readIfPresent(join(directory, 'ca.crt')),
    readIfPresent(join(directory, 'ca.key')),
  ]);
  if (cert && key) return { cert, key };
  if (cert) {
    const sentence = `${join(directory, 'ca.key')} is missing: restore it from a backup, or remove ${directory} and join all agents again.`;
    throw new ExitError(EXIT_CODES.data, sentence);
  }
  const caKey = key ?? (await generateKeyPem());
  if (!key) await writePrivateFile(join(directory, 'ca.key'), caKey);
  const made = await makeCaCertificate(caKey, now);
  await writePrivateFile(join(directory, 'ca.crt'), made);
  return { cert: made, key: caKey };
}

/** Returns the authority with a certificate that is valid at `now`, and whether it was reissued. */
async function loadValidCa(
  directory: string,
  now: number,
): Promise<{ validCa: KeyPair; isCaReissued: boolean }> {
  const present = await finishRotation(directory, await loadCa(directory, now));
  const validCa = await ensureValidCa(present, now);
  const isCaReissued = validCa !== present;
  if (isCaReissued) await writePrivateFile(join(directory, 'ca.crt'), validCa.cert);
  return { validCa, isCaReissued };
}

/** Returns the beginning of the certificate's validity, ms. */
function madeAt(certificatePem: string | undefined): number | undefined {
  return certificatePem === undefined ? undefined : Date.parse(new X509Certificate(certificatePem).validFrom);
}

/** A new certificate must be valid now and at the previous one's creation: either clock may have been wrong. */
function spanOf(before: number, now: number): { earliest: number; latest: number } {
  const near = Math.min(Math.max(before, now - days(MAX_CLOCK_ERROR_DAYS)), now + days(MAX_CLOCK_ERROR_DAYS));
  return { earliest: Math.min(near, now), latest: Math.max(near, now) };
}

/** Certificate and key are in one file, so that they always match. */
async function loadServing(
  directory: string,
  ca: KeyPair,
  names: readonly string[],
  now: number,
): Promise<KeyPair> {
  const path = join(directory, 'serving.pem');
  const present = await readIfPresent(path);
  if (present && !renewalReason(present, ca, names, now)) return { cert: present + ca.cert, key: present };
  const key = await generateKeyPem();
  const span = spanOf(madeAt(present) ?? now, now);
  const both = `${await makeServingCertificate(ca, key, names, span)}${key}`;
  await writePrivateFile(path, both);
  return { cert: both + ca.cert, key: both };
}

/**
 * Loads or creates everything in `directory`; files have mode 0600. `names`: DNS names and addresses of the server.
 * `now` in ms. Throws `ExitError` if existing files cannot be used.
 */
export async function loadPki(
  directory: string,
  names: readonly string[],
  now: number,
  supplied?: Supplied,
): Promise<Pki> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  try {
    const { validCa, isCaReissued } = await loadValidCa(directory, now);
    const { ca, others } = await rotate(directory, validCa, now, () => makeCa(now));
    const serving = supplied?.serving ?? (await loadServing(directory, ca, [...new Set(names)].sort(), now));
    const authorities = ca.cert + others;
    const trust = (supplied?.ca ?? '') + authorities;
    const caHash = publicKeyHash(new X509Certificate(trust));
    const trustBundleToResend = certificatesIn(trust).length > 1 || isReissued(ca.cert) ? trust : undefined;
    return {
      ca,
      isCaReissued: isCaReissued,
      authorities,
      trustBundle: trust,
      trustBundleToResend: trustBundleToResend,
      serving,
      caHash,
    };
  } catch (error) {
    if (error instanceof ExitError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT_CODES.data, `The certificates in ${directory} cannot be used: ${why}.`);
  }
}
