/** Our own certificate authority and the certificate that the API serves with, in `DATA/pki`. */
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
/** A serving certificate with less left is made anew. */
const RENEW_BEFORE_DAYS = 60;

export interface Pki {
  /** Signs what is signed now. */
  ca: KeyPair;
  /** True when its certificate was not good by this clock, and took another for the same key just now. */
  isCaReissued: boolean;
  /** PEM of our authorities whose client certificates count: the present one, the next, former ones. */
  authorities: string;
  /** PEM by which hosts and clients are to know the server; what join tokens pin comes first. */
  trustBundle: string;
  /** The same where a host that was away may have missed some of it: while one authority takes over from another, or got another certificate. */
  trustBundleToResend: string | undefined;
  /** The certificate is followed by the CA's: a joining agent knows no more of it than its key's hash. */
  serving: KeyPair;
  /** Hex SHA-256 of the first trusted one's public key (SubjectPublicKeyInfo DER): what join tokens pin. */
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

/** Why the serving certificate must be made anew, or undefined when it is good. */
export function renewalReason(
  certificatePem: string,
  ca: KeyPair,
  names: readonly string[],
  now: number,
): string | undefined {
  const certificate = new X509Certificate(certificatePem);
  if (!certificate.verify(new X509Certificate(ca.cert).publicKey)) return 'another authority signed it';
  if (Date.parse(certificate.validTo) - now < days(RENEW_BEFORE_DAYS)) return 'it expires soon';
  if (Date.parse(certificate.validFrom) > now) return 'it is not valid yet';
  const missing = names.find((name) =>
    isIP(name) ? !certificate.checkIP(name) : !certificate.checkHost(name, { wildcards: false }),
  );
  return missing === undefined ? undefined : `it does not name ${missing}`;
}

/** One that follows another has a name of its own: chains are built by names. */
async function makeCa(now: number): Promise<KeyPair> {
  const key = await generateKeyPem();
  const name = `CN=everynode-ca-${new Date(now).toISOString().slice(0, 10)}`;
  return { key, cert: await makeCaCertificate(key, now, name) };
}

/** The key is what agents pin: a lost certificate is made anew from it, a lost key cannot be. */
async function loadCa(directory: string, now: number): Promise<KeyPair> {
  const [cert, key] = await Promise.all([
    readIfPresent(join(directory, 'ca.crt')),
    readIfPresent(join(directory, 'ca.key')),
  ]);
  if (cert && key) return { cert, key };
  if (cert) {
    const sentence = `${join(directory, 'ca.key')} is missing: restore it from a backup, or remove ${directory} and join all agents anew.`;
    throw new ExitError(EXIT_CODES.data, sentence);
  }
  const caKey = key ?? (await generateKeyPem());
  if (!key) await writePrivateFile(join(directory, 'ca.key'), caKey);
  const made = await makeCaCertificate(caKey, now);
  await writePrivateFile(join(directory, 'ca.crt'), made);
  return { cert: made, key: caKey };
}

/** The authority with a certificate that is good by this clock, whatever clock it was made by. */
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

/** When the certificate says that it begins, ms. */
function madeAt(certificatePem: string | undefined): number | undefined {
  return certificatePem === undefined ? undefined : Date.parse(new X509Certificate(certificatePem).validFrom);
}

/** Both times at which a certificate may be looked at first: now, and when the last one was made, for the clock may be wrong or have been. */
function spanOf(before: number, now: number): { earliest: number; latest: number } {
  const near = Math.min(Math.max(before, now - days(MAX_CLOCK_ERROR_DAYS)), now + days(MAX_CLOCK_ERROR_DAYS));
  return { earliest: Math.min(near, now), latest: Math.max(near, now) };
}

/** Certificate and key stand in one file, so that they always belong together. */
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
 * Reads or makes everything below `directory`; files have mode 0600. `names` are the DNS names and addresses
 * that clients may use; `now` in ms. Throws `ExitError` when what is there cannot be used.
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
