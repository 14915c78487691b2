/** Calls of the Docker Engine API (which Podman answers too) over kept-alive connections, with our kind of error. */
import { Agent } from 'node:http';
import type { Readable } from 'node:stream';
import Modem from 'docker-modem';
import { RuntimeError } from './driver.js';

/** Where an engine listens. */
export type EngineAddress = { socketPath: string } | { host: string; port: number };

export interface ApiCall {
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
export interface Refusals {
  [status: number]: string;
  otherwise: string;
}

const DEFAULT_TIMEOUT_MS = 120_000;
const SUCCESS: Record<number, true> = { 200: true, 201: true, 204: true, 304: true };

export class DockerApi {
  readonly #modem: Modem;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 4 });

  /** `version` such as `1.41`; absent = the engine's newest, which only `/version` should be asked for. */
  constructor(address: EngineAddress, version?: string) {
    const where =
      'socketPath' in address
        ? { socketPath: address.socketPath, host: undefined }
        : { host: address.host, port: address.port };
    this.#modem = new Modem({
      ...where,
      protocol: 'http',
      agent: this.#agent,
      ...(version === undefined ? {} : { version: `v${version}` }),
    });
  }

  /** The decoded JSON of the answer. Throws `RuntimeError`. */
  async json<T>(call: ApiCall, refusals: Refusals): Promise<T> {
    const timeout = AbortSignal.timeout(call.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
    return (await this.#dial(call, refusals, signal, false)) as T;
  }

  /** The answer's bytes as they come, once its head is there; ends by the engine or by `call.signal`. */
  async stream(call: ApiCall, refusals: Refusals): Promise<Readable> {
    return (await this.#dial(call, refusals, call.signal, true)) as Readable;
  }

  close(): void {
    this.#agent.destroy();
  }

  #dial(
    call: ApiCall,
    refusals: Refusals,
    signal: AbortSignal | undefined,
    isStream: boolean,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#modem.dial(
        {
          path: `${call.path}?`,
          method: call.method,
          options: { _query: call.query ?? {}, _body: call.body ?? {} },
          ...(call.archive ? { file: call.archive } : {}),
          ...(call.headers ? { headers: call.headers } : {}),
          ...(signal ? { abortSignal: signal } : {}),
          isStream,
          statusCodes: SUCCESS,
        },
        (error, answer) => (error ? reject(toRuntimeError(error, refusals)) : resolve(answer)),
      );
    });
  }
}

/** What the engine refused, in its own words; or that it did not answer. */
export function toRuntimeError(error: Modem.DialError, refusals: Refusals): RuntimeError {
  if (error.statusCode === undefined) {
    const why =
      error.name === 'AbortError' || error.name === 'TimeoutError' ? 'no answer in time' : error.message;
    return new RuntimeError('EngineDown', `the container engine does not answer: ${why}`, true);
  }
  const words = wordsOf(error);
  const status = podmanStatus(words) ?? error.statusCode;
  return new RuntimeError(refusals[status] ?? refusals.otherwise, words, status >= 500);
}

/** Podman answers 500 where Docker says 409, and where a container goes away while it is looked at. */
function podmanStatus(words: string): number | undefined {
  if (words.includes('name is already in use')) return 409;
  return words.includes('no such container') ? 404 : undefined;
}

function wordsOf(error: Modem.DialError): string {
  if (typeof error.json === 'object' && error.json !== null && 'message' in error.json) {
    return String(error.json.message);
  }
  return error.message.replace(/^\(HTTP code \d+\) [^-]* - /, '').trim();
}
