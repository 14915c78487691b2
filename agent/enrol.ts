/**
 * How a host becomes a node: with a join token it pins the coordinator's certificate authority and registers a
 * credential of its own making. Later starts need no token.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type Agent, request } from 'node:https';
import { JOIN_PATH, type JoinRequest } from '../shared/link/messages.js';
import { type Identity, readIdentity, writeIdentity } from './identity-file.js';
import { findAuthority } from './pinned-authority.js';

const TIMEOUT_MS = 15_000;
/** An answer of /join is far smaller. */
const MAX_ANSWER_BYTES = 65_536;

/** Why a host could not become a node, in one sentence for a person. `temporary`: trying again may help. */
export class EnrolError extends Error {
  constructor(
    message: string,
    readonly temporary: boolean,
  ) {
    super(message);
    this.name = 'EnrolError';
  }
}

/** A node that has joined. */
export type Enrolment = Identity & { clusterUID: string };

export interface EnrolOptions {
  /** Created when missing. */
  dataDir: string;
  /** `https://HOST:PORT`. */
  server: string;
  node: string;
  /** `ID.SECRET.CAHASH`; needed until the node has joined. */
  token?: string;
}

/** The node's enrolment: the stored one, else by a join. Killed at any line, a repetition ends in the same place. Throws `EnrolError`. */
export async function enrol(options: EnrolOptions): Promise<Enrolment> {
  const { dataDir, node } = options;
  const stored = await readIdentity(dataDir);
  if (stored?.clusterUID !== undefined) {
    if (stored.node === node) return { ...stored, clusterUID: stored.clusterUID };
    throw new EnrolError(`this host has joined as node ${stored.node} and cannot become ${node}`, false);
  }
  if (options.token === undefined) {
    throw new EnrolError('this host has not joined a coordinator yet: a join token is needed', false);
  }
  const { server, bearer, ca } = await trustCoordinator(options.server, options.token);
  // A join under another name was refused, or nobody waited for its answer: the host may still choose its name.
  const pending = stored?.node === node ? stored.credential : undefined;
  const identity = { node, credential: pending ?? newCredential(node), ca };
  // Kept before it is registered: a join whose answer is lost is repeated with the same credential.
  await writeIdentity(dataDir, identity);
  const enrolment = { ...identity, ...(await register(server, identity, bearer)) };
  await writeIdentity(dataDir, enrolment);
  return enrolment;
}

/** A coordinator that is trusted because a join token names its authority. */
export interface TrustedCoordinator {
  server: URL;
  /** PEM of its certificate authority. */
  ca: string;
  /** What a join is authorised with. */
  bearer: string;
}

/** Asks the server for its authority and compares it with the token. Throws `EnrolError`. */
export async function trustCoordinator(serverText: string, tokenText: string): Promise<TrustedCoordinator> {
  const token = parseToken(tokenText);
  const server = parseServer(serverText);
  return { server, bearer: token.bearer, ca: await pinAuthority(server, token.caHash) };
}

/** 256 random bits and the name they are for. */
function newCredential(node: string): string {
  return `${randomBytes(32).toString('base64url')}.${node}`;
}

function parseToken(token: string): { bearer: string; caHash: string } {
  const match = /^([a-z0-9]{6}\.[a-z0-9]{16})\.([0-9a-f]{64})$/.exec(token.trim());
  if (!match?.[1] || !match[2]) throw new EnrolError('the token is not of the form ID.SECRET.CAHASH', false);
  return { bearer: match[1], caHash: match[2] };
}

function parseServer(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol !== 'https:')
    throw new EnrolError(`${server} is not of the form https://HOST:PORT`, false);
  return url;
}

async function pinAuthority(server: URL, caHash: string): Promise<string> {
  let authority: string | undefined;
  try {
    authority = await findAuthority(server, caHash);
  } catch (error) {
    throw new EnrolError(`${server.host} cannot be reached: ${messageOf(error)}`, true);
  }
  if (authority) return authority;
  throw new EnrolError(
    `${server.host} does not present the certificate authority that the token names`,
    false,
  );
}

/** What a coordinator answers to a join. */
export type Registration = Pick<Enrolment, 'clusterUID' | 'seal'>;

/** Registers the identity's credential; `connections` may keep sockets for many. Answers what the identity lacked. Throws `EnrolError`. */
export async function register(
  server: URL,
  identity: Identity,
  bearer: string,
  connections: Agent | false = false,
): Promise<Registration> {
  const body: JoinRequest = {
    node: identity.node,
    credentialHash: createHash('sha256').update(identity.credential).digest('hex'),
  };
  const { code, text } = await post(new URL(JOIN_PATH, server), {
    ca: identity.ca,
    bearer,
    body: JSON.stringify(body),
    connections,
  });
  const answer = parseAnswer(text);
  const { clusterUID, seal } = answer;
  if (code === 200 && typeof clusterUID === 'string') {
    return { clusterUID, ...(typeof seal === 'string' ? { seal } : {}) };
  }
  const message = typeof answer.message === 'string' ? answer.message : `status ${code}`;
  throw new EnrolError(
    `${server.host} refused to let this host join: ${message}`,
    code >= 500 || code === 429,
  );
}

function parseAnswer(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return { message: 'an answer that is not JSON' };
  }
}

interface Post {
  ca: string;
  bearer: string;
  body: string;
  connections: Agent | false;
}

/** One POST to a server whose certificate `ca` has signed. */
function post(url: URL, { ca, bearer, body, connections }: Post): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(new EnrolError(`${url.host} cannot be reached: ${error.message}`, true));
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const sent = request(
      url,
      { method: 'POST', ca, headers, timeout: TIMEOUT_MS, agent: connections },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          if (text.length > MAX_ANSWER_BYTES) response.destroy(new Error('the answer is too long'));
        });
        response.on('end', () => resolve({ code: response.statusCode ?? 0, text }));
        response.on('error', fail);
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', fail);
    sent.end(body);
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
