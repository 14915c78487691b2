/** HTTPS requests of a host to its coordinator: to join, or to certify its key again. */
import type { ClientRequestArgs } from 'node:http';
import { type Agent, request } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { dialThrough, type OpenTunnel } from '../../shared/link/forward-proxy/proxy-tunnel.js';
import { limitConnectTime } from '../../shared/link/limit-connect-time.js';
import {
  JOIN_PATH,
  type JoinRequest,
  type PendingJoinResponse,
} from '../../shared/link/messages/link-messages.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { escapeLine } from '../../shared/process/output/terminal-output.js';
import { systemClock } from '../../shared/process/time/clock.js';
import { CONNECT_TIMEOUT_MS } from '../decisions/link/next-address.js';
import { connectTrusting } from '../link/server-trust.js';

const TIMEOUT_MS = 15_000;
/** Answers are much smaller. */
const MAX_ANSWER_BYTES = 262_144;

/**
 * Why a host could not join, in one sentence for the operator. `isTemporary`: a retry may help. `isRefusal`: the
 * coordinator answered that it did not register the host's key; otherwise its answer may have been lost.
 */
export class JoinError extends Error {
  constructor(
    message: string,
    readonly isTemporary: boolean,
    readonly isRefusal = false,
  ) {
    super(message);
    this.name = 'JoinError';
  }
}

/** Returns the error with which a program exits. */
export function toExitError({ message, isTemporary }: JoinError): ExitError {
  const code = isTemporary ? EXIT_CODES.environment : EXIT_CODES.refused;
  // The message may quote the coordinator's answer.
  const line = escapeLine(message);
  return new ExitError(code, `${line.charAt(0).toUpperCase()}${line.slice(1)}.`);
}

/** Where to reach a coordinator. */
export interface ServerAddress {
  server: URL;
  /** The address as the user typed it, for errors; absent after the join. */
  serverText?: string;
  /** Timeout for the TCP connection or the tunnel; absent: that of the whole request. */
  connectTimeoutMs?: number;
  /** Opens the tunnel through an HTTP proxy; absent: this host needs none. */
  tunnel?: OpenTunnel | undefined;
}

/** A coordinator that a join token or an earlier join has made trusted. */
export interface TrustedCoordinator extends ServerAddress {
  /** PEM of its certificate authorities. */
  ca: string;
  /** PEM of the host's own certificate, if it has one: its start is a lower bound of the current time. */
  certificate?: string | undefined;
  /** Bearer token of the request; absent if the request's own signature is sufficient. */
  bearer?: string;
}

/** Answer to an accepted host. */
export interface Registration {
  clusterUID: string;
  joinMac?: string;
  certificate?: string;
  ca?: string;
}

/** `waiting`: for an operator's approval. */
type CertificateAnswer = ({ state: 'joined' } & Registration) | ({ state: 'waiting' } & PendingJoinResponse);

/** Sends the request to this path. `connections` may keep sockets for many hosts. Throws `JoinError`. */
export async function requestCertificate(
  coordinator: TrustedCoordinator,
  path: string,
  body: JoinRequest,
  connections: Agent | false = false,
): Promise<CertificateAnswer> {
  const { code, text } = await post(coordinator, path, JSON.stringify(body), connections);
  const answer = parseAnswer(text);
  const { clusterUID, message } = answer;
  if (code === 200 && typeof clusterUID === 'string') {
    return { state: 'joined', clusterUID, ...textsOf(answer, 'joinMac', 'certificate', 'ca') };
  }
  if (code === 202 && typeof message === 'string') {
    return { state: 'waiting', message, request: String(answer.request) };
  }
  throw new JoinError(
    `the coordinator at ${nameOf(coordinator)} refused to let this host join: ${typeof message === 'string' ? message : `status ${code}`}${causesOf(code, path)}`,
    code >= 500 || code === 429,
    code < 500,
  );
}

/**
 * Calls with one address after the other until one of them succeeds. A refusal ends the attempts: the other coordinators
 * would refuse as well. Throws `JoinError` with the reasons of all addresses.
 */
export async function tryInTurn<T>(
  addresses: readonly ServerAddress[],
  call: (address: ServerAddress) => Promise<T>,
): Promise<T> {
  const failures: JoinError[] = [];
  for (const [index, address] of addresses.entries()) {
    const isLast = index === addresses.length - 1;
    try {
      return await call(isLast ? address : { ...address, connectTimeoutMs: CONNECT_TIMEOUT_MS });
    } catch (error) {
      if (!(error instanceof JoinError) || error.isRefusal) throw error;
      failures.push(error);
    }
  }
  const [only] = failures;
  if (only && failures.length === 1) throw only;
  throw new JoinError(
    failures.map(({ message }) => message).join('; '),
    failures.some(({ isTemporary }) => isTemporary),
  );
}

/** Returns the coordinator's address for errors, as typed if known. */
function nameOf({ server, serverText }: ServerAddress): string {
  return serverText ?? server.host;
}

/**
 * The coordinator answers every bad token with `Unauthorized`, so that guessing reveals nothing. Therefore list the
 * possible causes here.
 */
function causesOf(code: number, path: string): string {
  if (code !== 401 || path !== JOIN_PATH) return '';
  return ' (the join token is wrong, expired, revoked or spent by another host); make a new one with: everynode token create';
}

function textsOf<K extends string>(answer: Record<string, unknown>, ...keys: K[]): { [key in K]?: string } {
  const texts = keys.filter((key) => typeof answer[key] === 'string').map((key) => [key, answer[key]]);
  return Object.fromEntries(texts) as { [key in K]?: string };
}

function parseAnswer(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return { message: 'an answer that is not JSON' };
  }
}

/** Returns a `createConnection` for requests to the coordinator. */
function trustingConnection({ ca, certificate, connectTimeoutMs, tunnel }: TrustedCoordinator) {
  const dial = (options: ConnectionOptions) => {
    const socket = connectTrusting(options, { ca, certificate });
    // A tunnel is connected, and its time was limited.
    return options.socket ? socket : limitConnectTime(socket, systemClock, connectTimeoutMs);
  };
  return dialThrough(tunnel, dial, connectTimeoutMs) as ClientRequestArgs['createConnection'];
}

/** Sends one POST to a server with a certificate signed by `ca`. */
function post(
  coordinator: TrustedCoordinator,
  path: string,
  body: string,
  connections: Agent | false,
): Promise<{ code: number; text: string }> {
  const { bearer } = coordinator;
  const url = new URL(path, coordinator.server);
  const connection = connections
    ? { ca: coordinator.ca, agent: connections }
    : { createConnection: trustingConnection(coordinator) };
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(
        new JoinError(`the coordinator at ${nameOf(coordinator)} cannot be reached: ${error.message}`, true),
      );
    const headers = {
      'content-type': 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    };
    const sent = request(url, { method: 'POST', headers, timeout: TIMEOUT_MS, ...connection }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_ANSWER_BYTES) response.destroy(new Error('the answer is too long'));
      });
      response.on('end', () => resolve({ code: response.statusCode ?? 0, text }));
      response.on('error', fail);
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', fail);
    sent.end(body);
  });
}
