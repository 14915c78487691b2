/** The joining coordinator's request to the fleet. Nothing is sent to a server of another authority than the token's. */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { COORDINATOR_JOIN_PATH } from '../../../shared/link/messages/link-limits.js';
import { findAuthority } from '../../../shared/link/pinned-authority.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { escapeLine } from '../../../shared/process/output/terminal-output.js';
import type { CoordinatorJoinRequest } from './join-exchange.js';

const TIMEOUT_MS = 15_000;
/** The keys have some 20 KB. */
const MAX_ANSWER_BYTES = 1_048_576;

/** Returns the URL of `https://HOST:PORT`. Throws `ExitError`. */
export function parseCoordinatorUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:') return url;
  throw new ExitError(EXIT_CODES.usage, `URL: must be of the form https://HOST:PORT, not "${text}".`);
}

/**
 * Returns the PEM of the authority with this key hash in the server's chain. Throws `ExitError`. Call it before a token
 * may be spent.
 */
export async function pinnedAuthority(server: URL, caHash: string): Promise<string> {
  const authority = await findAuthority(server, caHash).catch((error: Error) => {
    throw unreachable(server, error);
  });
  if (authority !== undefined) return authority;
  throw new ExitError(
    EXIT_CODES.refused,
    `The coordinator at ${server.origin} does not present the certificate authority that the token names: check the address and the token.`,
  );
}

/** Returns the decoded answer. Throws `ExitError`; after a refusal with 4xx the token is not spent by this call. */
export async function sendJoin(server: URL, ca: string, body: CoordinatorJoinRequest): Promise<unknown> {
  const { code, text } = await post(server, ca, JSON.stringify(body)).catch((error: Error) => {
    throw unreachable(server, error);
  });
  const answer = parsed(text);
  if (code === 200) return answer;
  const { message } = (answer ?? {}) as { message?: unknown };
  const why = escapeLine(typeof message === 'string' ? message : `status ${code}`);
  const causes =
    code === 401
      ? ' (the token is wrong, expired or used; make a new one with: everynode coordinator token)'
      : '';
  throw new ExitError(
    code < 500 && code !== 429 ? EXIT_CODES.refused : EXIT_CODES.environment,
    `The coordinator at ${server.origin} refused to let this one join: ${why}${causes}.`,
  );
}

function unreachable(server: URL, { message }: Error): ExitError {
  return new ExitError(
    EXIT_CODES.environment,
    `The coordinator at ${server.origin} cannot be reached: ${message}.`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function post(server: URL, ca: string, body: string): Promise<{ code: number; text: string }> {
  const options = {
    ...{ method: 'POST', ca, minVersion: 'TLSv1.3' as const, agent: false as const, timeout: TIMEOUT_MS },
    allowPartialTrustChain: true,
    // A standby forwards the connection to the leader, whose certificate has the leader's names. The answer proves
    // that the server knows the token.
    checkServerIdentity: () => undefined,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
  };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(COORDINATOR_JOIN_PATH, server), options, (response: IncomingMessage) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_ANSWER_BYTES) response.destroy(new Error('the answer is too long'));
      });
      response.on('end', () => resolve({ code: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end(body);
  });
}
