/** Calls of the Docker Engine API (which Podman answers too) over kept-alive connections, with our kind of error. */
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { RuntimeError } from '../runtime-driver.js';
import { addressText, connectionProblem, type EngineAddress } from './engine-address.js';

interface ApiCall {
  method: 'GET' | 'POST' | 'DELETE';
  /** Without version and query. */
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  /** A tar archive in the place of `body`. */
  archive?: Uint8Array;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** How long the engine may take; absent = two minutes, for a loaded device with a slow disk is no failure. */
  timeoutMs?: number;
}

/** What each answer of the engine means to us: HTTP code → reason of the error. Others are `otherwise`. */
export interface ErrorReasons {
  [status: number]: string;
  fallback: string;
}

const DEFAULT_TIMEOUT_MS = 120_000;
const SUCCESS = new Set([200, 201, 204, 304]);

/**
 * Written on Node's own client: the agent stays on small devices, and the known client libraries bring an SSH stack
 * that costs a tenth of its memory.
 */
export class DockerApi {
  readonly #address: EngineAddress;
  readonly #prefix: string;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 4 });
  /** The engine in error messages: `docker at /var/run/docker.sock`. */
  readonly engine: string;

  /** `version` such as `1.41`; absent = the engine's newest, which only `/version` should be asked for. */
  constructor(address: EngineAddress, version?: string, name = 'the container engine') {
    this.#address = address;
    this.engine = `${name} at ${addressText(address)}`;
    this.#prefix = version === undefined ? '' : `/v${version}`;
  }

  /** The decoded JSON of the answer; undefined when it has none. Throws `RuntimeError`. */
  async json<T>(call: ApiCall, refusals: ErrorReasons): Promise<T> {
    const timeout = AbortSignal.timeout(call.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
    try {
      const text = await textOf(await this.#answer(call, refusals, signal));
      return (text.trim() === '' ? undefined : JSON.parse(text)) as T;
    } catch (error) {
      throw this.#toRuntimeError(error);
    }
  }

  /** The answer's bytes as they come, once its head is there; ends by the engine or by `call.signal`. Throws `RuntimeError`. */
  async stream(call: ApiCall, refusals: ErrorReasons): Promise<AsyncIterable<Uint8Array>> {
    try {
      return this.bytesOf(await this.#answer(call, refusals, call.signal));
    } catch (error) {
      throw this.#toRuntimeError(error);
    }
  }

  /** What the engine sends on a connection of its own. Throws `RuntimeError` EngineDown when it breaks. */
  async *bytesOf(connection: Readable): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const bytes of connection) yield bytes as Uint8Array;
    } catch (error) {
      throw this.#toRuntimeError(error);
    }
  }

  /** The connection itself, once the engine has given it up for bytes in both directions (`POST`; 101 or a refusal). */
  hijack(call: ApiCall, refusals: ErrorReasons): Promise<Socket> {
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
      outgoing.on('response', (answer) => {
        textOf(answer).then((text) => reject(this.#toRefusal(answer.statusCode ?? 0, text, refusals)), fail);
      });
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** The answer once its head is there. Throws `RuntimeError` for a refusal, and what the connection throws. */
  async #answer(
    call: ApiCall,
    refusals: ErrorReasons,
    signal: AbortSignal | undefined,
  ): Promise<IncomingMessage> {
    const answer = await this.#send(call, signal);
    const status = answer.statusCode ?? 0;
    if (SUCCESS.has(status)) return answer;
    throw this.#toRefusal(status, await textOf(answer), refusals);
  }

  #send(call: ApiCall, signal: AbortSignal | undefined): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      this.#request(call, signal).on('response', resolve).on('error', reject);
    });
  }

  /** A request that is on its way, body and all. */
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

  /** What the engine refused, in its own words; an `EngineDown` names the engine, for it ends up in the Node's condition. */
  #toRefusal(httpStatus: number, body: string, refusals: ErrorReasons): RuntimeError {
    const words = wordsOf(body);
    const status = podmanStatus(words) ?? httpStatus;
    const reason = refusals[status] ?? refusals.fallback;
    const message = reason === 'EngineDown' ? `${this.engine} answers with an error: ${words}` : words;
    return new RuntimeError(reason, message, status >= 500);
  }

  /** A refusal as it is; anything else means that the engine did not answer. */
  #toRuntimeError(error: unknown): RuntimeError {
    if (error instanceof RuntimeError) return error;
    const message = `${this.engine} does not answer: ${connectionProblem(error)}`;
    return new RuntimeError('EngineDown', message, true, { cause: error });
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Podman answers 500 where Docker says 409 or 400, and where a container goes away while it is looked at. */
function podmanStatus(words: string): number | undefined {
  if (words.includes('name is already in use')) return 409;
  if (words.includes('container state improper')) return 409;
  if (words.startsWith('normalizing image: ')) return 400;
  return words.includes('no such container') ? 404 : undefined;
}

/** Engines wrap their words as `{"message": "…"}`; a proxy in between may not. */
function wordsOf(body: string): string {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === 'string' ? message : body.trim();
  } catch {
    // Not JSON: the text is all there is.
    return body.trim();
  }
}

/** Yields each object; a last line without its end is left out, since it is cut off. Throws SyntaxError. */
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
