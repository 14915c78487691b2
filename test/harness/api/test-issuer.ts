/** An OpenID Connect issuer that authenticates one user without a prompt: authorization code with PKCE, over HTTPS. */
import { createHash, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { loadPki } from '../../../coordinator/pki/load-pki.js';

export interface TestIssuer {
  issuer: string;
  /** Path of the authority's PEM file. */
  caFile: string;
  /** Wrong claims for the next token, for tests of rejections. */
  next: { nonce?: string; audience?: string };
  close(): void;
}

/** The request that a code was issued for. */
interface Given {
  challenge: string;
  nonce: string;
  redirectUri: string;
}

/**
 * Starts the issuer with its keys in `directory`. The user is `ann`. Its configuration names no client authentication
 * method, so HTTP Basic applies.
 */
export async function startTestIssuer(
  directory: string,
  clientId: string,
  clientSecret: string,
): Promise<TestIssuer> {
  const pki = await loadPki(directory, ['localhost', '127.0.0.1'], Date.now());
  const caFile = join(directory, 'issuer-ca.pem');
  writeFileSync(caFile, pki.ca.cert);
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }];
  const codes = new Map<string, Given>();
  const next: TestIssuer['next'] = {};
  let issuer = '';

  const idToken = (nonce: string) =>
    new SignJWT({ nonce: next.nonce ?? nonce })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setSubject('ann')
      .setIssuer(issuer)
      .setAudience(next.audience ?? clientId)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
  const exchange = async (form: URLSearchParams): Promise<object | undefined> => {
    const given = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isGood = given?.challenge === challenge && given.redirectUri === form.get('redirect_uri');
    return given && isGood ? { id_token: await idToken(given.nonce), token_type: 'Bearer' } : undefined;
  };
  const server = createServer(pki.serving, async (request, response) => {
    const url = new URL(request.url ?? '/', issuer);
    const answer = (body: object | undefined) => {
      response.writeHead(body ? 200 : 400, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? { error: 'invalid_grant' }));
    };
    if (url.pathname === '/keys') return answer({ keys });
    if (url.pathname === '/authorize') {
      const asked = (name: string) => url.searchParams.get(name) ?? '';
      const code = randomUUID();
      const redirectUri = asked('redirect_uri');
      codes.set(code, { challenge: asked('code_challenge'), nonce: asked('nonce'), redirectUri });
      const location = `${redirectUri}?code=${code}&state=${encodeURIComponent(asked('state'))}`;
      return response.writeHead(302, { location }).end();
    }
    if (url.pathname === '/token') {
      const proof = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
      if (request.headers.authorization !== `Basic ${proof}`) return answer(undefined);
      let text = '';
      for await (const chunk of request) text += chunk;
      return answer(await exchange(new URLSearchParams(text)));
    }
    answer({
      issuer,
      jwks_uri: `${issuer}/keys`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { issuer, caFile, next, close };
}
