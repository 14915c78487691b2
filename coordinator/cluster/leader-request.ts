/** Asks at an address who leads: a follower forwards the request to the leader, which answers it. */
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { LEADER_PATH } from '../../shared/link/messages/link-limits.js';
import { readTrust } from '../pki/read-trust.js';

const TIMEOUT_MS = 2_000;

/** Returns the term of the leader that serves an address. Rejects without an answer. */
export type TermReader = (server: string) => Promise<number>;

/** Asks over HTTPS and waits for 2 s. Trusts the fleet's authorities in the data directory alone. */
export function httpsTermReader(dataDir: string): TermReader {
  return async (server) => leaderTermAt(server, await readTrust(join(dataDir, 'pki')));
}

async function leaderTermAt(server: string, ca: string): Promise<number> {
  const url = new URL(LEADER_PATH, server);
  // A leader that has just begun may not have all addresses in its certificate yet. The authority is what counts.
  const options = { ca, timeout: TIMEOUT_MS, agent: false as const, checkServerIdentity: () => undefined };
  const body = await new Promise<string>((resolve, reject) => {
    const sent = request(url, options, (response) => text(response).then(resolve, reject));
    sent.on('timeout', () => sent.destroy(new Error('no answer within 2 s')));
    sent.on('error', reject);
    sent.end();
  });
  const { term } = JSON.parse(body) as { term?: unknown };
  return typeof term === 'number' ? term : 0;
}
