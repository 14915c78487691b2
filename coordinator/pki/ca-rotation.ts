/**
 * Rotation of the certificate authority. The next authority is created and announced years before the present one ends,
 * so that every host trusts it before it signs. The previous one stays trusted until it ends. A crash at any point is
 * repaired by the next run.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';
import { certificatesIn, days, type KeyPair } from './key-pair.js';

/** Announce the next authority this long before the end: hosts that are off for two years still learn it. */
const ANNOUNCE_DAYS = 3 * 365;
/**
 * Switch when the present authority is valid for less than this, so that it never shortens a certificate that it signs.
 */
const SWITCH_DAYS = 400;
/** Minimum time between announcement and switch, for hosts to learn the next authority. */
const OVERLAP_DAYS = 30;

/** The next step of a rotation. */
export type RotationStep = 'none' | 'announce' | 'switch';

/** `notAfterMs`: end of the present authority. `announcedAtMs`: creation of the next one, if any. Pure. */
export function rotationStep(
  now: number,
  { notAfterMs, announcedAtMs }: { notAfterMs: number; announcedAtMs?: number | undefined },
): RotationStep {
  const leftMs = notAfterMs - now;
  if (announcedAtMs === undefined) return leftMs < days(ANNOUNCE_DAYS) ? 'announce' : 'none';
  const isKnown = now - announcedAtMs >= days(OVERLAP_DAYS);
  return leftMs < days(SWITCH_DAYS) && isKnown ? 'switch' : 'none';
}

/** The trusted authorities. */
interface Authorities {
  ca: KeyPair;
  /** PEM of the next and the previous authorities, if any. */
  others: string;
}

/** Runs the due steps. `present` must be valid and match its key. `make` creates an authority. */
export async function rotate(
  directory: string,
  present: KeyPair,
  now: number,
  make: () => Promise<KeyPair>,
): Promise<Authorities> {
  const path = (name: string) => join(directory, name);
  let ca = present;
  let next = await readPair(path('ca-next.pem'));
  const step = rotationStep(now, {
    notAfterMs: Date.parse(new X509Certificate(ca.cert).validTo),
    announcedAtMs: next && Date.parse(new X509Certificate(next.cert).validFrom),
  });
  if (step === 'announce') {
    next = await make();
    await writePrivateFile(path('ca-next.pem'), next.cert + next.key);
  }
  if (step === 'switch' && next) {
    const old = (await readIfPresent(path('ca-old.crt'))) ?? '';
    if (!old.includes(ca.cert)) await writePrivateFile(path('ca-old.crt'), old + ca.cert);
    await writePrivateFile(path('ca.key'), next.key);
    ca = await finishRotation(directory, { cert: ca.cert, key: next.key });
    next = undefined;
  }
  const old = certificatesIn((await readIfPresent(path('ca-old.crt'))) ?? '');
  const living = old.filter(({ validTo }) => now < Date.parse(validTo)).map((each) => each.toString());
  return { ca, others: [next?.cert ?? '', ...living].join('') };
}

/** Completes a switch that was interrupted between writing the key and writing the certificate. */
export async function finishRotation(directory: string, { cert, key }: KeyPair): Promise<KeyPair> {
  const path = join(directory, 'ca-next.pem');
  if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key };
  const next = await readPair(path);
  if (!next || !new X509Certificate(next.cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error('ca.key is not the key of ca.crt');
  }
  await writePrivateFile(join(directory, 'ca.crt'), next.cert);
  await rm(path);
  return { cert: next.cert, key };
}

/** Reads a file with a certificate and its key. */
async function readPair(path: string): Promise<KeyPair | undefined> {
  const text = await readIfPresent(path);
  if (text === undefined) return undefined;
  const at = text.indexOf('-----BEGIN PRIVATE KEY-----');
  return { cert: text.slice(0, at), key: text.slice(at) };
}
