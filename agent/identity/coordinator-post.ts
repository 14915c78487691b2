/** POST requests of a joined host to the API, with its certificate or the bearer token of its link. */
import { request } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { connectTrusting } from '../link/server-trust.js';
import type { HostIdentity } from './host-identity.js';

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 262_144;

export type CallingIdentity = Pick<HostIdentity, 'ca' | 'key' | 'certificate' | 'bearer'>;

export interface ApiAnswer {
  code: number;
  body: unknown;
}

/** If a proxy terminates TLS, the link's bearer token identifies the host. Rejects if there is no JSON answer. */
export function postToCoordinator(
  server: URL,
  identity: CallingIdentity,
  path: string,
  body: object,
): Promise<ApiAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(path, server),
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          connection: 'close',
          ...(identity.bearer === undefined ? {} : { authorization: `Bearer ${identity.bearer}` }),
        },
        timeout: TIMEOUT_MS,
        ...proofOf(identity),
        createConnection: (options) => connectTrusting(options as ConnectionOptions, identity),
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          if (text.length > MAX_ANSWER_BYTES) response.destroy(new Error('the answer is too long'));
        });
        response.on('error', reject);
        response.on('end', () => {
          try {
            resolve({ code: response.statusCode ?? 500, body: JSON.parse(text) });
          } catch (error) {
            reject(error);
          }
        });
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

function proofOf({ key, certificate }: CallingIdentity): { key?: string; cert?: string } {
  return key && certificate ? { key, cert: certificate } : {};
}
