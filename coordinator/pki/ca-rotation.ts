/**
 * The authority's own succession: years before its end the next one is made and made known, so that every host trusts
 * it before it signs anything; the former one stays trusted until its end. Killed at any line, the next look goes on.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';
import { certificatesIn, days, type KeyPair } from './key-pair.js';

/** The next authority is made when so little is left of the present one: hosts that are off for two years hear of it. */
const ANNOUNCE_DAYS = 3 * 365;
/** It takes over when so little is left: no certificate is made shorter for it. */
const SWITCH_DAYS = 400;
/** And not before hosts had so long to hear of it. */
const OVERLAP_DAYS = 30;

/** What is to be done now. */
export type RotationStep = 'none' | 'announce' | 'switch';

/** `notAfterMs`: end of the present authority; `announcedAtMs`: when the next one was made, if it was. Pure. */
export function rotationStep(
  now: number,
  { notAfterMs, announcedAtMs }: { notAfterMs: number; announcedAtMs?: number | undefined },
): RotationStep {
  const leftMs = notAfterMs - now;
  if (announcedAtMs === undefined) return leftMs < days(ANNOUNCE_DAYS) ? 'announce' : 'none';
  const isKnown = now - announcedAtMs >= days(OVERLAP_DAYS);
  return leftMs < days(SWITCH_DAYS) && isKnown ? 'switch' : 'none';
}

/** Those who are trusted: the present one first. */
interface Authorities {
  ca: KeyPair;
  /** PEM of the next one and the former ones, as far as there are any. */
  others: string;
}

/** Takes the steps that are due. `present`: in time, and with the key of its certificate. `make` makes an authority. */
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

/** Goes on with a succession that was cut short between the key and the certificate. */
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

/** A certificate and its key in one file. */
async function readPair(path: string): Promise<KeyPair | undefined> {
  const text = await readIfPresent(path);
  if (text === undefined) return undefined;
  const at = text.indexOf('-----BEGIN PRIVATE KEY-----');
  return { cert: text.slice(0, at), key: text.slice(at) };
}
