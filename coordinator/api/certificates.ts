/** Our own certificate authority and the certificate that the API serves with, in `DATA/pki`. */
import 'reflect-metadata';
import { createPrivateKey, createPublicKey, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
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
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { publicKeyHash } from '../../shared/link/public-key-hash.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { readIfPresent, writePrivateFile } from '../../shared/process/private-file.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const CA_DAYS = 3650;
const SERVING_DAYS = 365;
/** A serving certificate with less left is made anew. */
const RENEW_BEFORE_DAYS = 60;
/** Clocks of hosts differ. */
const BACKDATE_MS = DAY_MS;
const EC = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const;

/** PEM texts of a certificate and its key. */
export interface KeyPair {
  cert: string;
  key: string;
}

export interface Pki {
  ca: KeyPair;
  /** The certificate is followed by the CA's: a joining agent knows no more of it than its key's hash. */
  serving: KeyPair;
  /** Hex SHA-256 of the CA's public key (SubjectPublicKeyInfo DER): what join tokens pin. */
  caHash: string;
}

function pem(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

async function newKey(): Promise<string> {
  const { privateKey } = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']);
  return pem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', privateKey));
}

async function importKey(keyPem: string): Promise<webcrypto.CryptoKeyPair> {
  const privateDer = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' });
  const publicDer = createPublicKey(keyPem).export({ type: 'spki', format: 'der' });
  const [privateKey, publicKey] = await Promise.all([
    webcrypto.subtle.importKey('pkcs8', privateDer, EC, true, ['sign']),
    webcrypto.subtle.importKey('spki', publicDer, EC, true, ['verify']),
  ]);
  return { privateKey, publicKey };
}

/** Positive and unique: 127 random bits. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}

function validity(now: number, days: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now - BACKDATE_MS), notAfter: new Date(now + days * DAY_MS) };
}

async function makeCaCertificate(keyPem: string, now: number): Promise<string> {
  const keys = await importKey(keyPem);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: 'CN=everynode-ca',
    ...validity(now, CA_DAYS),
    keys,
    signingAlgorithm: SIGNING,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

async function makeServingCertificate(
  ca: KeyPair,
  keyPem: string,
  names: readonly string[],
  now: number,
): Promise<string> {
  const caKeys = await importKey(ca.key);
  const keys = await importKey(keyPem);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: 'CN=everynode',
    issuer: 'CN=everynode-ca',
    ...validity(now, SERVING_DAYS),
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: SIGNING,
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
  if (Date.parse(certificate.validTo) - now < RENEW_BEFORE_DAYS * DAY_MS) return 'it expires soon';
  if (Date.parse(certificate.validFrom) > now) return 'it is not valid yet';
  const missing = names.find((name) =>
    isIP(name) ? !certificate.checkIP(name) : !certificate.checkHost(name, { wildcards: false }),
  );
  return missing === undefined ? undefined : `it does not name ${missing}`;
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
  const caKey = key ?? (await newKey());
  if (!key) await writePrivateFile(join(directory, 'ca.key'), caKey);
  const made = await makeCaCertificate(caKey, now);
  await writePrivateFile(join(directory, 'ca.crt'), made);
  return { cert: made, key: caKey };
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
  const key = await newKey();
  const both = `${await makeServingCertificate(ca, key, names, now)}${key}`;
  await writePrivateFile(path, both);
  return { cert: both + ca.cert, key: both };
}

/**
 * Reads or makes everything below `directory`; files have mode 0600. `names` are the DNS names and addresses
 * that clients may use; `now` in ms. Throws `ExitError` when what is there cannot be used.
 */
export async function loadPki(directory: string, names: readonly string[], now: number): Promise<Pki> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  try {
    const ca = await loadCa(directory, now);
    const serving = await loadServing(directory, ca, [...new Set(names)].sort(), now);
    return { ca, serving, caHash: publicKeyHash(new X509Certificate(ca.cert)) };
  } catch (error) {
    if (error instanceof ExitError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT_CODES.data, `The certificates in ${directory} cannot be used: ${why}.`);
  }
}
