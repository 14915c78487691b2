/** Reads the authorities of the fleet without creating or rotating anything: only the leader changes them. */
import { join } from 'node:path';
import { readIfPresent } from '../../shared/process/files/private-file.js';

/** The present authority, and the next and the previous ones during a rotation. */
const FILES = ['ca.crt', 'ca-next.pem', 'ca-old.crt'];
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g;

/** Returns PEM; empty if there is no authority. */
export async function readTrust(pkiDirectory: string): Promise<string> {
  const texts = await Promise.all(FILES.map((name) => readIfPresent(join(pkiDirectory, name))));
  // The next authority's file contains its key, too.
  return texts.flatMap((text) => text?.match(CERTIFICATE) ?? []).join('');
}
