/**
 * The keys of TLS session tickets, kept over restarts: after one every agent comes back at once, and a resumed
 * handshake costs half. Whoever has them could pass for a client that was here before, so they change weekly and
 * are in no backup.
 */
import { randomBytes } from 'node:crypto';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';
import { days } from './key-pair.js';

/** As Node wants them. */
const KEY_BYTES = 48;
/** The longest that TLS 1.3 lets a ticket live (RFC 8446, 4.6.1). */
const DAYS = 7;

/** How long a session can be resumed at most, s. */
export const SESSION_SECONDS = days(DAYS) / 1000;

/** The keys in the file; new ones when there are none that can be read, or they are a week old. */
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
    // Cut short, or of another form: all it costs is a full handshake for each client.
    return undefined;
  }
}
