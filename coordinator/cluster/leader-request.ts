/** Asks at an address who leads: a follower forwards the request to the leader, which answers it. */
import { request } from 'node:https';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { PeerCertificate } from 'node:tls';
import { isHostSubject } from '../../shared/link/host-subject.js';
import { LEADER_PATH } from '../../shared/link/messages/link-limits.js';
import { readTrust } from '../pki/read-trust.js';

const TIMEOUT_MS = 2_000;
const MAX_ANSWER_BYTES = 1_024;

/** Returns the term of the leader that serves an address. Rejects without an answer. */
export type TermReader = (server: string) => Promise<number>;

/** Asks over HTTPS and waits for 2 s. Trusts the fleet's authorities in the data directory alone. */
export function httpsTermReader(dataDir: string): TermReader {
  return async (server) => leaderTermAt(server, await readTrust(join(dataDir, 'pki')));
}

async function leaderTermAt(server: string, ca: string): Promise<number> {
  const url = new URL(LEADER_PATH, server);
  const options = { ca, agent: false as const, checkServerIdentity, signal: AbortSignal.timeout(TIMEOUT_MS) };
  const body = await new Promise<string>((resolve, reject) => {
    const sent = request(url, options, (response) => shortText(response).then(resolve, reject));
    sent.on('error', reject);
    sent.end();
  });
  const { term } = JSON.parse(body) as { term?: unknown };
  return typeof term === 'number' ? term : 0;
}

/**
 * A leader that has just begun may not have all addresses in its certificate yet, so names are not checked. A host has a
 * certificate of the same authority: with it, it could answer at the address of a coordinator that is down.
 */
function checkServerIdentity(_name: string, { subject }: PeerCertificate): Error | undefined {
  return isHostSubject(subject) ? new Error('the certificate is that of a host') : undefined;
}

async function shortText(response: Readable): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
  }
  return text;
}
