/** OpenID Connect discovery of the ServiceAccount issuer over HTTPS. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { type AccessFixture, person, startAccessFixture } from '../../harness/api/access-fixture.js';
import { call } from '../../harness/api/https-call.js';

const CONFIGURATION = '/.well-known/openid-configuration';
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const SERVER = 'https://fleet.example:6443';

let fixture: AccessFixture;
before(async () => {
  fixture = await startAccessFixture({
    joinFacts: async () => ({
      ...{ server: SERVER, authority: '', serving: '', hasRelease: false, approval: false },
    }),
  });
  await fixture.asAdmin(`POST ${ACCOUNTS}`, { metadata: { name: 'verifier' } });
});
after(() => fixture.stop());

interface Configuration {
  issuer: string;
  jwks_uri: string;
  id_token_signing_alg_values_supported: string[];
}

async function accountToken(): Promise<string> {
  const answer = await call(fixture.api, `POST ${ACCOUNTS}/verifier/token`, {
    body: { spec: { audiences: ['vault'] } },
  });
  return answer.json<{ status: { token: string } }>().status.token;
}

test('a ServiceAccount finds the keys, and they verify a token for another audience', async () => {
  const { status } = (
    await call(fixture.api, `POST ${ACCOUNTS}/verifier/token`, { body: { spec: {} } })
  ).json<{
    status: { token: string };
  }>();
  const found = await call(fixture.api, `GET ${CONFIGURATION}`, { token: status.token });
  assert.equal(found.code, 200, found.text);
  assert.match(found.headers['content-type'] ?? '', /^application\/json\b/);
  const configuration = found.json<Configuration & Record<string, unknown>>();
  assert.ok(configuration.jwks_uri.startsWith(`${SERVER}/`), configuration.jwks_uri);
  assert.deepEqual(configuration.response_types_supported, ['id_token']);
  assert.deepEqual(configuration.subject_types_supported, ['public']);
  const path = new URL(configuration.jwks_uri).pathname;
  const keys = await call(fixture.api, `GET ${path}`, { token: status.token });
  assert.equal(keys.code, 200, keys.text);
  assert.match(keys.headers['content-type'] ?? '', /^application\/jwk-set\+json\b/);
  assert.ok(!keys.text.includes('"d"'), 'the answer contains a private key');
  const { payload } = await jwtVerify(await accountToken(), createLocalJWKSet(keys.json<JSONWebKeySet>()), {
    issuer: configuration.issuer,
    audience: 'vault',
    algorithms: configuration.id_token_signing_alg_values_supported,
  });
  assert.equal(payload.sub, 'system:serviceaccount:default:verifier');
});

for (const path of [CONFIGURATION, '/openid/v1/jwks']) {
  test(`${path} needs a role, which users do not have by default`, async () => {
    assert.equal((await fixture.as(person('ann'), `GET ${path}`)).code, 403);
    assert.equal((await call(fixture.api, `GET ${path}`, { token: null })).code, 401);
    assert.equal((await fixture.as(person('ben', 'system:serviceaccounts'), `GET ${path}`)).code, 200);
  });

  test(`${path} can only be read`, async () => {
    assert.equal((await call(fixture.api, `POST ${path}`, { body: {} })).code, 405);
  });
}
