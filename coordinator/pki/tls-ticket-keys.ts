/**
 * Keys of TLS session tickets, which survive restarts. After a restart all agents reconnect, and a resumed handshake
 * costs half. A stolen key lets an attacker pose as an earlier client, so the keys change weekly and are not backed up.
 */
import { randomBytes } from 'node:crypto';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';
import { days } from './key-pair.js';

/** The size that Node.js requires. */
const KEY_BYTES = 48;
/** The longest ticket lifetime of TLS 1.3 (RFC 8446, 4.6.1). */
const DAYS = 7;

/** Longest time in which a session can be resumed, s. */
export const SESSION_SECONDS = days(DAYS) / 1000;

/** Returns the keys in the file, or new ones if they are missing, invalid or a week old. */
export async function loadTicketKeys(path: string, now: number): Promise<Buffer> {
  const present = read(await readIfPresent(path));
  if (present && present.madeAt <= now && now < present.madeAt + days(DAYS)) return present.keys;
  const keys = randomBytes(KEY_BYTES);
  await writePrivateFile(path, `${JSON.stringify({ madeAt: now, keys: keys.toString('base64') })}\n`);
  return keys;
}

function read(text: string | undefined): { madeAt: number; keys: Buffer } | undefined {
  try {
    const { madeAt, keys } = JSON.parse(text ?? '') as { madeAt: unknown; keys: unknown };
    const bytes = Buffer.from(String(keys), 'base64');
    return typeof madeAt === 'number' && bytes.length === KEY_BYTES ? { madeAt, keys: bytes } : undefined;
  } catch {
    // An invalid file costs only a full handshake of each client.
    return undefined;
  }
}
