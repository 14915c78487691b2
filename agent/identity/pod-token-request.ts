/** Requests a Pod's token over HTTPS with the host's identity: `POST …/serviceaccounts/NAME/token`. */
import { request } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { connectTrusting } from '../link/server-trust.js';
import type { RequestToken, TokenRequest, TokenResult } from '../pods/steps/pod-token-cache.js';
import type { HostIdentity } from './host-identity.js';

const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 262_144;

/** `server` returns the coordinator's current address. If a proxy terminates TLS, the link's bearer token identifies the host. */
export function podTokenRequester(
  server: () => URL,
  identity: Pick<HostIdentity, 'ca' | 'key' | 'certificate' | 'bearer'>,
): RequestToken {
  return (params) =>
    new Promise((resolve, reject) => {
      const { namespace, serviceAccount } = params;
      const path = ['api/v1/namespaces', namespace, 'serviceaccounts', serviceAccount, 'token']
        .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
        .join('/');
      const sent = request(
        new URL(`/${path}`, server()),
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
              resolve(answerOf(response.statusCode ?? 500, text));
            } catch (error) {
              reject(error);
            }
          });
        },
      );
      sent.on('timeout', () => sent.destroy(new Error('no answer')));
      sent.on('error', reject);
      sent.end(JSON.stringify(bodyOf(params)));
    });
}

function proofOf({ key, certificate }: Pick<HostIdentity, 'key' | 'certificate'>): {
  key?: string;
  cert?: string;
} {
  return key && certificate ? { key, cert: certificate } : {};
}

function bodyOf({ pod, audience, expirationSeconds }: TokenRequest): object {
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    spec: {
      ...(audience === undefined ? {} : { audiences: [audience] }),
      expirationSeconds,
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', ...pod },
    },
  };
}

/** Throws an Error if a retry may help. */
function answerOf(code: number, text: string): TokenResult {
  const answer = JSON.parse(text) as { status?: { token?: string }; message?: string };
  const token = answer.status?.token;
  if (code === 201 && typeof token === 'string') return { token };
  if (code >= 400 && code < 500 && code !== 429) return { refused: answer.message ?? `status ${code}` };
  throw new Error(`the coordinator answered with status ${code}`);
}
