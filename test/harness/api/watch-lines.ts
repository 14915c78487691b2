/** Reads a watch of a test server line by line. */
import type { ClientRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createInterface, type Interface } from 'node:readline';
import { TEST_TOKEN, type TestApi } from './api-fixture.js';

interface WatchEventLine {
  type: string;
  object: {
    kind?: string;
    code?: number;
    reason?: string;
    metadata: { name?: string; resourceVersion?: string; annotations?: Record<string, string> };
    columnDefinitions?: { name: string }[];
    rows?: { cells: unknown[] }[];
  };
}

interface WatchLines {
  readonly code: number;
  /** The value of the Warning header, if there is one. */
  readonly warning: string | undefined;
  /** Returns the next event, or undefined when the stream has ended. */
  next(): Promise<WatchEventLine | undefined>;
  /** True if the stream ended in the middle of a chunk. */
  wasCut(): boolean;
  /** Closes the connection. */
  close(): void;
}

interface WatchRequestOptions {
  accept?: string;
  headers?: Record<string, string>;
}

/** Sends `GET path` and resolves once the response headers have arrived. */
export function openWatch(
  api: Pick<TestApi, 'port' | 'pki'>,
  path: string,
  { accept = 'application/json', headers: more = {} }: WatchRequestOptions = {},
): Promise<WatchLines> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TEST_TOKEN}`, accept, ...more };
    const options = { host: '127.0.0.1', port: api.port, path, ca: api.pki.ca.cert, agent: false, headers };
    const request: ClientRequest = httpsRequest(options, (response) => {
      let isCut = false;
      response.on('error', () => response.destroy());
      response.on('aborted', () => {
        isCut = true;
      });
      const lines: Interface = createInterface({ input: response });
      const iterator = lines[Symbol.asyncIterator]();
      resolve({
        code: response.statusCode ?? 0,
        warning: response.headers.warning?.toString(),
        next: async () => {
          const { value, done } = await iterator.next();
          return done ? undefined : JSON.parse(value);
        },
        wasCut: () => isCut || !response.complete,
        close: () => request.destroy(),
      });
    });
    request.on('error', reject);
    request.end();
  });
}
