/** A client of our own API for the commands that talk to a running coordinator. */

import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { parse } from 'yaml';
import { ApiError, type Status } from '../../shared/kube/status.js';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { reportLine } from '../../shared/process/terminal-output.js';

export interface ApiClient {
  /** The API's address, `https://HOST:PORT`. */
  readonly server: string;
  /** PEM of the certificate authority. */
  readonly certificateAuthority: string;
  /**
   * One request with a JSON body, of a PATCH a merge patch, and a JSON answer. What the API warns of goes to standard error, as
   * kubectl has it.
   * Throws `ApiError` when the API refuses, and the socket's error when it cannot be reached.
   */
  request<T>(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T>;
}

const MERGE_PATCH = 'application/merge-patch+json';

interface Kubeconfig {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
  users: { user: { token?: string; 'client-certificate-data'?: string; 'client-key-data'?: string } }[];
}

function decode(base64: string | undefined): string | undefined {
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString();
}

function readKubeconfig(path: string): Kubeconfig {
  try {
    return parse(readFileSync(path, 'utf8')) as Kubeconfig;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ExitError(
      EXIT_CODES.environment,
      `cannot read the kubeconfig: ${reason}. Is --data the coordinator's directory?`,
    );
  }
}

/** Connects as the kubeconfig's user. Throws `ExitError` when the file cannot be used. */
export function apiClientFromKubeconfig(path: string): ApiClient {
  const config = readKubeconfig(path);
  const cluster = config.clusters[0]?.cluster;
  const user = config.users[0]?.user;
  if (!cluster || !user) throw new ExitError(EXIT_CODES.environment, `${path} names no cluster or no user`);
  const certificateAuthority = decode(cluster['certificate-authority-data']) ?? '';
  const agent = new Agent({
    ca: certificateAuthority,
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
    keepAlive: true,
  });
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    ...(user.token ? { authorization: `Bearer ${user.token}` } : {}),
  };
  return {
    server: cluster.server,
    certificateAuthority,
    request: <T>(method: string, path: string, body?: unknown) =>
      send<T>(
        new URL(path, cluster.server),
        {
          agent,
          method,
          headers: method === 'PATCH' ? { ...headers, 'content-type': MERGE_PATCH } : headers,
        },
        body,
      ),
  };
}

interface CallOptions {
  agent: Agent;
  method: string;
  headers: Record<string, string>;
}

/** The texts of `Warning:` headers (RFC 7234 5.5), of which Node gives each byte as a character. */
export function warningTexts(headers: readonly string[] = []): string[] {
  return headers.flatMap((header) => {
    const quoted = /^299 \S+ "((?:\\.|[^"\\])*)"/.exec(header)?.[1];
    return quoted === undefined ? [] : [Buffer.from(quoted.replace(/\\(.)/g, '$1'), 'latin1').toString()];
  });
}

function send<T>(url: URL, { headers, ...options }: CallOptions, body: unknown): Promise<T> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  // Node tells no length of a DELETE's body by itself: what follows its head would be taken for another request.
  const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { ...options, headers: { ...headers, ...length } }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      for (const text of warningTexts(incoming.headersDistinct.warning)) {
        reportLine(`Warning: ${text}`);
      }
      incoming.on('end', () => {
        const answer = JSON.parse(Buffer.concat(chunks).toString() || '{}') as T & Status;
        if ((incoming.statusCode ?? 500) < 300) resolve(answer);
        else reject(new ApiError(answer.reason ?? 'InternalError', answer.message ?? '', answer.details));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(text);
  });
}
