/** The part of docker-modem's interface that docker-api.ts uses; the package ships no types. */
declare module 'docker-modem' {
  import type { Agent } from 'node:http';

  namespace Modem {
    interface Options {
      socketPath?: string;
      host?: string | undefined;
      port?: number;
      protocol?: 'http';
      version?: string;
      agent?: Agent;
    }
    interface Dial {
      /** Ends with `?`: the query follows from `options._query`. */
      path: string;
      method: string;
      options: { _query: Record<string, string>; _body: unknown };
      /** A body that is no JSON. */
      file?: Uint8Array;
      headers?: Record<string, string>;
      /** Hand over the response as a stream. */
      isStream?: boolean;
      abortSignal?: AbortSignal;
      /** `true` for each code that is a success. */
      statusCodes: Record<number, true>;
    }
    interface DialError extends Error {
      /** Of the engine's refusal; absent when there was no answer. */
      statusCode?: number;
      /** Of the operating system, such as ECONNREFUSED. */
      code?: string;
      json?: unknown;
    }
  }
  class Modem {
    constructor(options: Modem.Options);
    dial(request: Modem.Dial, callback: (error: Modem.DialError | null, answer: unknown) => void): void;
  }
  export = Modem;
}
