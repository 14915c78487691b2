/** Calls of the Docker Engine API, which Podman implements too. All errors are `RuntimeError`s. */
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { RuntimeError } from '../runtime-driver.js';
import { addressText, connectionProblem, type EngineAddress } from './engine-address.js';

interface ApiCall {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path without API version and query. */
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  /** Tar archive to send instead of `body`. */
  archive?: Uint8Array;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Timeout. Default: two minutes, because an overloaded device with a slow disk is not a failure. */
  timeoutMs?: number;
}

/** Reasons of the `RuntimeError`s of a call, by HTTP status. All other statuses get `fallback`. */
export interface ErrorReasons {
  [status: number]: string;
  fallback: string;
}

const DEFAULT_TIMEOUT_MS = 120_000;
const SUCCESS = new Set([200, 201, 204, 304]);

/** Uses Node's HTTP client: Docker libraries include an SSH stack, a tenth of the agent's memory. */
export class DockerApi {
  readonly #address: EngineAddress;
  readonly #prefix: string;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 4 });
  /** Names the engine in error messages, such as `docker at /var/run/docker.sock`. */
  readonly engine: string;

  /** `version` is an API version such as `1.41`. Calls without it, except `/version`, may break with new engines. */
  constructor(address: EngineAddress, version?: string, name = 'the container engine') {
    this.#address = address;
    this.engine = `${name} at ${addressText(address)}`;
    this.#prefix = version === undefined ? '' : `/v${version}`;
  }

  /** Returns the decoded JSON of the response, or undefined for an empty one. Throws `RuntimeError`. */
  async json<T>(call: ApiCall, reasons: ErrorReasons): Promise<T> {
    const timeout = AbortSignal.timeout(call.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
    try {
      const text = await textOf(await this.#respond(call, reasons, signal));
      return (text.trim() === '' ? undefined : JSON.parse(text)) as T;
    } catch (error) {
      throw this.#toRuntimeError(error);
    }
  }

  /** Resolves with the response's bytes when its head has arrived. Throws `RuntimeError`. */
  async stream(call: ApiCall, reasons: ErrorReasons): Promise<AsyncIterable<Uint8Array>> {
    try {
      return this.bytesOf(await this.#respond(call, reasons, call.signal));
    } catch (error) {
      throw this.#toRuntimeError(error);
    }
  }

  /** Yields the connection's bytes. Throws `RuntimeError` EngineDown when it breaks. */
  async *bytesOf(connection: Readable): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const bytes of connection) yield bytes as Uint8Array;
    } catch (error) {
      throw this.#toRuntimeError(error);
    }
  }

  /** Resolves with the connection, upgraded for bytes in both directions. Throws `RuntimeError`. */
  hijack(call: ApiCall, reasons: ErrorReasons): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const outgoing = this.#request(
        { ...call, headers: { Connection: 'Upgrade', Upgrade: 'tcp' } },
        call.signal,
      );
      const fail = (error: unknown) => reject(this.#toRuntimeError(error));
      outgoing.on('error', fail);
      outgoing.on('upgrade', (_answer, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      outgoing.on('response', (response) => {
        textOf(response).then(
          (text) => reject(this.#toStatusError(response.statusCode ?? 0, text, reasons)),
          fail,
        );
      });
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Resolves when the response head has arrived. Throws `RuntimeError` for an error status. */
  async #respond(
    call: ApiCall,
    reasons: ErrorReasons,
    signal: AbortSignal | undefined,
  ): Promise<IncomingMessage> {
    const response = await this.#send(call, signal);
    const status = response.statusCode ?? 0;
    if (SUCCESS.has(status)) return response;
    throw this.#toStatusError(status, await textOf(response), reasons);
  }

  #send(call: ApiCall, signal: AbortSignal | undefined): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      this.#request(call, signal).on('response', resolve).on('error', reject);
    });
  }

  /** Sends the request with its body. */
  #request(call: ApiCall, signal: AbortSignal | undefined): ClientRequest {
    const query = new URLSearchParams(call.query).toString();
    const json = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
    const body = call.archive ?? json;
    const outgoing = request({
      ...this.#address,
      agent: this.#agent,
      method: call.method,
      path: `${this.#prefix}${call.path}${query && `?${query}`}`,
      headers: {
        ...(json ? { 'Content-Type': 'application/json' } : {}),
        ...(body || call.method === 'POST' ? { 'Content-Length': body?.length ?? 0 } : {}),
        ...call.headers,
      },
      ...(signal ? { signal } : {}),
    });
    outgoing.end(body);
    return outgoing;
  }

  /** An `EngineDown` names the engine, because its message becomes part of the Node's Ready condition. */
  #toStatusError(httpStatus: number, body: string, reasons: ErrorReasons): RuntimeError {
    const text = errorTextOf(body);
    const status = podmanStatus(text) ?? httpStatus;
    const reason = reasons[status] ?? reasons.fallback;
    const message = reason === 'EngineDown' ? `${this.engine} responds with an error: ${text}` : text;
    return new RuntimeError(reason, message, status >= 500);
  }

  /** Keeps a `RuntimeError`. Any other error means that the engine did not respond. */
  #toRuntimeError(error: unknown): RuntimeError {
    if (error instanceof RuntimeError) return error;
    const message = `${this.engine} does not respond: ${connectionProblem(error)}`;
    return new RuntimeError('EngineDown', message, true, { cause: error });
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Podman responds 500 where Docker responds 409 or 400, and where a container is removed during an inspection. */
function podmanStatus(text: string): number | undefined {
  if (text.includes('name is already in use')) return 409;
  if (text.includes('container state improper')) return 409;
  if (text.startsWith('normalizing image: ')) return 400;
  return text.includes('no such container') ? 404 : undefined;
}

/** Engines wrap their error messages as `{"message": "…"}`. A proxy in between may not. */
function errorTextOf(body: string): string {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === 'string' ? message : body.trim();
  } catch {
    return body.trim();
  }
}

/** Yields the JSON objects of a stream, one a line. Skips an incomplete last line. */
export async function* jsonLines<T>(source: AsyncIterable<Uint8Array>): AsyncGenerator<T, void> {
  let left = '';
  const decoder = new TextDecoder();
  for await (const chunk of source) {
    const lines = (left + decoder.decode(chunk, { stream: true })).split('\n');
    left = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() !== '') yield JSON.parse(line) as T;
    }
  }
}
