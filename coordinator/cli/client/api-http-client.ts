/** Sends requests to a coordinator's API. */

import type { IncomingMessage } from 'node:http';
import { type Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { ApiError, type Status, type StatusReason } from '../../../shared/kube/objects/api-status.js';
import { limitConnectTime } from '../../../shared/link/limit-connect-time.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { escapeLine, printErrorLine } from '../../../shared/process/output/terminal-output.js';
import { systemClock } from '../../../shared/process/time/clock.js';

export interface ApiClient {
  /** The API's address in the kubeconfig, `https://HOST:PORT`. */
  readonly server: string;
  /** The context and its file, for errors. */
  readonly origin: string;
  /** Default namespace of commands. */
  readonly namespace: string;
  /** The certificates in PEM that prove the server. Undefined: those of the system. */
  readonly certificateAuthority: string | undefined;
  /**
   * Sends a JSON body (a merge patch for PATCH), or bytes as they are, and returns the JSON response. Prints `Warning:`
   * headers to standard error, like kubectl. Throws `ApiError` if the API refuses, and `ExitError` if it is unreachable
   * or is no Kubernetes API.
   */
  request<T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T>;
  /** Sends a POST without a body and gives the response to `save`. Throws like `request`, and what `save` throws. */
  download<T>(path: string, save: (response: IncomingMessage) => Promise<T>): Promise<T>;
}

/** Timeout of the TCP connection. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Timeout with the TLS handshake. A coordinator that follows holds a connection for 10 s while no other leads. */
const HANDSHAKE_TIMEOUT_MS = 15_000;

const MERGE_PATCH = 'application/merge-patch+json';

interface ApiClientDeps extends Omit<ApiClient, 'request' | 'download'> {
  agent: Agent;
  headers: Readonly<Record<string, string | string[]>>;
}

export function createApiClient({ agent, headers: proof, ...about }: ApiClientDeps): ApiClient {
  const { server, origin } = about;
  const headers = { accept: 'application/json', 'content-type': 'application/json', ...proof };
  // The server in a kubeconfig may include a path.
  const base = server.replace(/\/+$/, '');
  const sent = (method: string, path: string, body?: unknown): Promise<IncomingMessage> =>
    send(new URL(base + path), { agent, method, headers: { ...headers, ...typeOf(method, body) } }, body);
  const unreachable = (error: Error): never => {
    const why = `${server} (${origin}) does not respond: ${error.message}`;
    throw new ExitError(
      EXIT_CODES.environment,
      `${why}. Check that the coordinator runs and that this is its address.`,
    );
  };
  const refusalOf = ({ code, text }: ReceivedText): Error => {
    const answer = parseAnswer(text);
    if (isStatus(answer)) return new ApiError(answer.reason, answer.message ?? '', answer.details);
    if (code === 404) return new ApiError('NotFound', 'the server could not find the requested resource');
    return new ExitError(
      EXIT_CODES.environment,
      `${server} (${origin}) does not respond like a Kubernetes API: status ${code} without a Status object.`,
    );
  };
  return {
    ...about,
    request: async <T>(method: string, path: string, body?: unknown) => {
      const received = await sent(method, path, body).then(receiveText).catch(unreachable);
      const answer = parseAnswer(received.text);
      if (answer !== undefined && received.code < 300) return answer as T;
      throw refusalOf(received);
    },
    download: async (path, save) => {
      const response = await sent('POST', path).catch(unreachable);
      if (response.statusCode === 200) return save(response);
      throw refusalOf(await receiveText(response).catch(unreachable));
    },
  };
}

function typeOf(method: string, body: unknown): { 'content-type'?: string } {
  if (body instanceof Uint8Array) return { 'content-type': 'application/octet-stream' };
  return method === 'PATCH' ? { 'content-type': MERGE_PATCH } : {};
}

interface ReceivedText {
  code: number;
  text: string;
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text || '{}');
  } catch {
    return undefined;
  }
}

function isStatus(value: unknown): value is Status & { reason: StatusReason } {
  return typeof value === 'object' && value !== null && 'reason' in value && typeof value.reason === 'string';
}

interface CallOptions {
  agent: Agent;
  method: string;
  headers: Readonly<Record<string, string | string[]>>;
}

/** Returns the texts of `Warning:` headers (RFC 7234 5.5). Node decodes header bytes as latin1. */
export function warningTexts(headers: readonly string[] = []): string[] {
  return headers.flatMap((header) => {
    const quoted = /^299 \S+ "((?:\\.|[^"\\])*)"/.exec(header)?.[1];
    return quoted === undefined ? [] : [Buffer.from(quoted.replace(/\\(.)/g, '$1'), 'latin1').toString()];
  });
}

/** A dead machine sends no reply, and Linux repeats a connection for two minutes. */
function limitConnect(socket: TLSSocket): void {
  // A kept connection, or a tunnel.
  if (!socket.connecting) return;
  limitConnectTime(socket, systemClock, CONNECT_TIMEOUT_MS);
  limitHandshakeTime(socket);
}

/** Limits the time of the TLS connection, of which the TCP connection or the tunnel is a part. Returns the socket. */
export function limitHandshakeTime(socket: TLSSocket): TLSSocket {
  return limitConnectTime(socket, systemClock, HANDSHAKE_TIMEOUT_MS, 'secureConnect');
}

/** Resolves with the head of the response. */
function send(url: URL, { headers, ...options }: CallOptions, body: unknown): Promise<IncomingMessage> {
  const bytes = body === undefined || body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  // Node does not set the length of a DELETE's body. Without it the server would parse the body as the next request.
  const length = bytes === undefined ? {} : { 'content-length': bytes.length };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { ...options, headers: { ...headers, ...length } }, (incoming) => {
      for (const warning of warningTexts(incoming.headersDistinct.warning))
        printErrorLine(`Warning: ${warning}`);
      resolve(incoming);
    });
    outgoing.on('socket', (socket) => limitConnect(socket as TLSSocket));
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}

async function receiveText(incoming: IncomingMessage): Promise<ReceivedText> {
  return { code: incoming.statusCode ?? 500, text: await text(incoming) };
}

/** Matches `User "ann" cannot list resource "secrets" in API group "" in the namespace "kube-system"`. */
const FORBIDDEN =
  /User "(?<user>[^"]*)" cannot (?<verb>\S+) resource "(?<resource>[^"]*)" in API group "(?<group>[^"]*)"(?: in the namespace "(?<namespace>[^"]*)")?/;

/**
 * Returns the error text for a request that the API refused: kubectl's text and, for a 403, the RBAC rule that would
 * allow it. Pure.
 */
export function refusalText({ reason, message }: ApiError): string {
  if (reason === 'Unauthorized') {
    return 'You must be logged in to the server (Unauthorized): the credentials in the kubeconfig are missing, expired or revoked.';
  }
  const refusal = `Error from server (${reason}): ${escapeLine(message)}`;
  const needed = FORBIDDEN.exec(message)?.groups;
  if (reason !== 'Forbidden' || !needed) return refusal;
  const { user, verb, resource, group, namespace } = needed;
  const where = namespace === undefined ? 'a ClusterRole' : `a Role in namespace "${namespace}"`;
  const rule = `apiGroups: ["${group}"], resources: ["${resource}"], verbs: ["${verb}"]`;
  return `${refusal}\nAn administrator can allow it by ${where} with the rule {${rule}}, bound to "${user}" or one of its groups.`;
}
