/** A client of the coordinator's API that returns every response, also rejections, and records watches. */
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';
import { parse } from 'yaml';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';

export interface ApiAnswer {
  code: number;
  body: unknown;
}

export interface WatchedEvent {
  type: string;
  object: KubeObject & Record<string, unknown>;
  /** Time of arrival in ms, by the monotonic clock. */
  at: number;
}

/** An open watch that records its events. */
export interface RecordedWatch {
  readonly events: readonly WatchedEvent[];
  close(): void;
}

/** A client of one coordinator, with the user of its kubeconfig. */
export class CoordinatorApi {
  readonly #server: string;
  readonly #ca: string;
  readonly #agent: Agent;
  readonly #headers: Record<string, string>;
  readonly #timeoutMs: number;

  /** `timeoutMs`: a request without an answer is rejected after this time. Default: it waits without a limit. */
  constructor(kubeconfig: string, timeoutMs = 0) {
    this.#timeoutMs = timeoutMs;
    const config = parse(kubeconfig) as {
      clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
      users: { user: { token?: string; 'client-certificate-data'?: string; 'client-key-data'?: string } }[];
    };
    const cluster = config.clusters[0]?.cluster;
    const user = config.users[0]?.user;
    if (!cluster || !user) throw new Error('the kubeconfig names no cluster or no user');
    const pem = (base64: string | undefined) => base64 && Buffer.from(base64, 'base64').toString();
    this.#server = cluster.server;
    this.#ca = pem(cluster['certificate-authority-data']) ?? '';
    this.#agent = new Agent({
      ca: this.#ca,
      cert: pem(user['client-certificate-data']),
      key: pem(user['client-key-data']),
      keepAlive: true,
    });
    this.#headers = user.token ? { authorization: `Bearer ${user.token}` } : {};
  }

  /** Sends one request; bytes are sent as they are. A rejection is returned as a response. */
  send(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<ApiAnswer> {
    return new Promise((resolve, reject) => {
      const text = body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      // Node sends the body of a DELETE without a length.
      const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) };
      const headers = { ...this.#headers, 'content-type': contentType, ...length };
      const outgoing = request(
        new URL(path, this.#server),
        { method, agent: this.#agent, headers, timeout: this.#timeoutMs },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('error', reject);
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('end', () => {
            const answer = Buffer.concat(chunks).toString();
            resolve({ code: incoming.statusCode ?? 0, body: answer ? JSON.parse(answer) : undefined });
          });
        },
      );
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer for ${this.#timeoutMs} ms`)));
      outgoing.on('error', reject);
      outgoing.end(text);
    });
  }

  /** Sends one request. Throws if it is rejected. */
  async request<T>(method: string, path: string, body?: unknown, contentType?: string): Promise<T> {
    const answer = await this.send(method, path, body, contentType);
    if (answer.code < 300) return answer.body as T;
    throw new Error(`${method} ${path}: ${answer.code} ${JSON.stringify(answer.body)}`);
  }

  async items<T>(path: string): Promise<{ items: T[]; resourceVersion: string }> {
    const list = await this.request<{ items: T[]; metadata: { resourceVersion: string } }>('GET', path);
    return { items: list.items, resourceVersion: list.metadata.resourceVersion };
  }

  /** Returns URL, authority and headers, for tests that send the request themselves. */
  requestFor(path: string): { url: string; ca: string; headers: Record<string, string> } {
    return { url: new URL(path, this.#server).href, ca: this.#ca, headers: this.#headers };
  }

  /** Resolves when the response has started. Every later change is recorded. */
  watch(path: string, resourceVersion: string): Promise<RecordedWatch> {
    const events: WatchedEvent[] = [];
    const url = new URL(path, this.#server);
    url.searchParams.set('watch', 'true');
    url.searchParams.set('resourceVersion', resourceVersion);
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { agent: this.#agent, headers: this.#headers }, (incoming) => {
        const lines = createInterface({ input: incoming });
        lines.on('line', (line) => {
          events.push({ ...(JSON.parse(line) as Omit<WatchedEvent, 'at'>), at: performance.now() });
        });
        // Closing the watch resets the connection. Recorded events are kept.
        lines.on('error', () => outgoing.destroy());
        resolve({ events, close: () => void outgoing.destroy() });
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
