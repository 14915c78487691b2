/** ID tokens of a real issuer over HTTPS: discovery, key rotation, and rejections. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { OidcAuthenticator } from '../../../coordinator/access/oidc-authenticator.js';
import { issuerFetch } from '../../../coordinator/access/oidc-fetch.js';
import { loadPki, type Pki } from '../../../coordinator/pki/load-pki.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

const folder = mkdtempSync(join(tmpdir(), 'everynode-oidc-'));
let pki: Pki;
let server: Server;
let issuer: string;
let keys: Keys;
let jwks: { keys: object[] } = { keys: [] };
let fetched = 0;
let isDown = false;

async function publish(kid: string): Promise<void> {
  keys = await generateKeyPair('RS256', { extractable: true });
  jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid, alg: 'RS256', use: 'sig' }] };
}

before(async () => {
  pki = await loadPki(folder, ['localhost', '127.0.0.1'], Date.now());
  await publish('one');
  server = createServer(pki.serving, (request, response) => {
    if (isDown) return void response.writeHead(503).end();
    if (request.url === '/keys') fetched += 1;
    const discovery = { issuer, jwks_uri: `${issuer}/keys` };
    response.end(JSON.stringify(request.url === '/keys' ? jwks : discovery));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
});

function authenticator(ca: string | undefined = pki.ca.cert, keyCooldownMs = 30_000): OidcAuthenticator {
  return new OidcAuthenticator(
    {
      issuer,
      clientId: 'everynode',
      usernameClaim: 'sub',
      usernamePrefix: 'oidc:',
      groupsClaim: 'groups',
      groupsPrefix: 'oidc:',
      requiredClaims: {},
      signingAlgorithms: ['RS256'],
    },
    { fetch: issuerFetch(ca), clock: systemClock, log: silentLogger, keyCooldownMs },
  );
}

interface Token {
  kid?: string;
  key?: Keys['privateKey'];
  audience?: string;
  iss?: string;
  expires?: string;
  from?: string;
}

function token({
  kid = 'one',
  key = keys.privateKey,
  audience = 'everynode',
  iss = issuer,
  expires = '1h',
  from = '0s',
}: Token = {}) {
  return new SignJWT({ groups: ['ops'] })
    .setProtectedHeader({ alg: 'RS256', kid })
    .setSubject('ann')
    .setIssuer(iss)
    .setAudience(audience)
    .setIssuedAt()
    .setNotBefore(from)
    .setExpirationTime(expires)
    .sign(key);
}

test('a valid token gives the user; the keys are fetched once', async () => {
  const oidc = authenticator();
  const before = fetched;
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(await oidc.authenticate(await token()), {
      username: 'oidc:ann',
      groups: ['oidc:ops', 'system:authenticated'],
    });
  }
  assert.equal(fetched - before, 1);
});

test('another audience, another issuer, an expired token, another key and garbage are rejected', async () => {
  const oidc = authenticator();
  const stranger = await generateKeyPair('RS256');
  const wrong = [
    await token({ audience: 'other' }),
    await token({ iss: 'https://evil.example.com' }),
    await token({ expires: '-1m' }),
    await token({ from: '6m' }),
    await token({ key: stranger.privateKey }),
    `${(await token()).slice(0, -4)}AAAA`,
    'rubbish',
    'a.b.c',
    '',
  ];
  for (const each of wrong) assert.equal(await oidc.authenticate(each), undefined, each);
  // The public key as a shared secret, and no signature at all.
  const [, body = ''] = (await token()).split('.');
  for (const alg of ['none', 'HS256']) {
    const head = Buffer.from(JSON.stringify({ alg, kid: 'one' })).toString('base64url');
    assert.equal(await oidc.authenticate(`${head}.${body}.`), undefined, alg);
  }
});

test('an issuer whose clock is some minutes ahead is accepted', async () => {
  assert.equal((await authenticator().authenticate(await token({ from: '4m' })))?.username, 'oidc:ann');
});

test('an unreachable issuer and an untrusted one authenticate no user', async () => {
  isDown = true;
  assert.equal(await authenticator().authenticate(await token()), undefined);
  isDown = false;
  const other = mkdtempSync(join(folder, 'other-'));
  const foreign = await loadPki(other, ['localhost'], Date.now());
  assert.equal(await authenticator(foreign.ca.cert).authenticate(await token()), undefined);
});

test('a new key of the issuer is fetched when a token names it', async () => {
  const oidc = authenticator(pki.ca.cert, 0);
  assert.ok(await oidc.authenticate(await token()));
  await publish('two');
  assert.ok(await oidc.authenticate(await token({ kid: 'two' })));
  assert.equal(await oidc.authenticate(await token({ kid: 'one' })), undefined);
});
