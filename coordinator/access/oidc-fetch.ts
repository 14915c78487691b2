/** HTTPS requests to an OpenID Connect issuer, with limits of time and size. */
import { request as send } from 'node:https';
import type { Fetch } from './oidc-authenticator.js';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1_048_576;
const FORM = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };

/** `ca`: PEM of the issuer's certificate authorities; absent = those of the system. */
export function issuerFetch(ca?: string): Fetch {
  return (url, form, authorization) =>
    new Promise((resolve, reject) => {
      const options = {
        ...(ca === undefined ? {} : { ca }),
        ...(form === undefined
          ? {}
          : { method: 'POST', headers: authorization ? { ...FORM, authorization } : FORM }),
        timeout: TIMEOUT_MS,
      };
      const request = send(url, options, (answer) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_BYTES) request.destroy(new Error('the response of the issuer is too long'));
          else chunks.push(chunk);
        });
        answer.on('error', reject);
        answer.on('end', () =>
          resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 500 })),
        );
      });
      request.on('timeout', () => request.destroy(new Error('the issuer does not respond')));
      request.on('error', reject);
      request.end(form);
    });
}
