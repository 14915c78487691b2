/** Sends one HTTPS request to a test server and reads the complete response. */

import type { IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { TEST_TOKEN, type TestApi } from './api-fixture.js';

export interface CallOptions {
  /** Sent as JSON, unless it is bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  token?: string | null;
  /** True sends the body chunked, without a length. */
  inPieces?: boolean;
  /** Client certificate and key, PEM. */
  client?: { cert: string; key: string };
  /** Address of this machine to connect from. */
  from?: string;
}

export interface CallAnswer {
  code: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Parses the body as JSON. */
  json<T = Record<string, unknown>>(): T;
}

/** Sends `METHOD /path` and resolves with the complete response. Rejects when the connection breaks. */
export function call(
  api: Pick<TestApi, 'port' | 'pki'>,
  line: string,
  {
    body,
    headers = {},
    token = TEST_TOKEN,
    client = undefined,
    inPieces = false,
    from = undefined,
  }: CallOptions = {},
): Promise<CallAnswer> {
  const [method, path] = line.split(' ', 2);
  const bytes = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  const length = inPieces ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(bytes?.length) };
  const type = bytes ? { 'content-type': 'application/json', ...length } : {};
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port: api.port,
        method,
        path,
        ca: api.pki.ca.cert,
        ...client,
        localAddress: from,
        agent: false,
        headers: { ...authorization, ...type, ...headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const code = response.statusCode ?? 0;
          resolve({ code, headers: response.headers, text, json: () => JSON.parse(text) });
        });
      },
    );
    request.on('error', reject);
    request.end(bytes);
  });
}
