/** Signing in at an issuer: limits on requests and writes that unauthenticated clients can cause. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fetch } from '../../../coordinator/access/oidc-authenticator.js';
import { OidcSignIn, SignInRefused } from '../../../coordinator/access/oidc-sign-in.js';
import type { AuditEvent } from '../../../shared/kube/access/audit-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { startTestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';

const ISSUER = 'https://issuer.example';
const CLIENT = { issuer: ISSUER, clientId: 'everynode', scopes: ['openid'] };
const HERE = 'https://here/callback';
const DISCOVERY = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
};
/** A cookie that any client can forge. */
const ATTEMPT = Buffer.from(JSON.stringify({ state: 's', nonce: 'n', verifier: 'v' })).toString('base64url');

function issuer() {
  const clock = new ManualClock(0);
  const asked: string[] = [];
  const fetch: Fetch = async (url) => {
    asked.push(new URL(url).pathname);
    return url.endsWith('/token') ? new Response('', { status: 400 }) : Response.json(DISCOVERY);
  };
  return { clock, asked, oidc: new OidcSignIn(CLIENT, { fetch, clock, log: silentLogger }) };
}

test("the issuer's configuration is fetched at most once a minute, for any number of callers", async () => {
  const { clock, asked, oidc } = issuer();
  const begun = await Promise.all([oidc.start(HERE), oidc.start(HERE)]);
  assert.notEqual(begun[0].url, begun[1].url);
  assert.equal(asked.length, 1);
  clock.advance(61_000);
  await oidc.start(HERE);
  assert.equal(asked.length, 2);
});

test('a secret is sent as the issuer requires, by HTTP Basic by default', async () => {
  const TABLE: [ways: string[] | undefined, form: boolean][] = [
    [undefined, false],
    [['client_secret_basic'], false],
    [['client_secret_basic', 'client_secret_post'], true],
  ];
  for (const [ways, inForm] of TABLE) {
    const sent: { form: URLSearchParams; authorization: string | undefined }[] = [];
    const fetch: Fetch = async (url, form, authorization) => {
      if (!url.endsWith('/token'))
        return Response.json({
          ...DISCOVERY,
          ...(ways ? { token_endpoint_auth_methods_supported: ways } : {}),
        });
      sent.push({ form: new URLSearchParams(form), authorization });
      return new Response('', { status: 400 });
    };
    const client = { ...CLIENT, clientSecret: 'a b:c' };
    const oidc = new OidcSignIn(client, { fetch, clock: new ManualClock(0), log: silentLogger });
    await assert.rejects(oidc.finish(ATTEMPT, new URLSearchParams('state=s&code=c'), HERE), SignInRefused);
    const [{ form, authorization } = { form: new URLSearchParams(), authorization: '' }] = sent;
    assert.equal(form.get('client_secret'), inForm ? 'a b:c' : null);
    const basic = `Basic ${Buffer.from('everynode:a+b%3Ac').toString('base64')}`;
    assert.equal(authorization, inForm ? undefined : basic);
  }
});

test('concurrent requests to an issuer are limited', async () => {
  const { asked, oidc } = issuer();
  await oidc.start(HERE);
  const refusals = await Promise.all(
    Array.from({ length: 40 }, () =>
      oidc.finish(ATTEMPT, new URLSearchParams('state=s&code=c'), HERE).catch((error: unknown) => error),
    ),
  );
  const reasons = refusals.map((error) => (error instanceof SignInRefused ? error.reason : String(error)));
  assert.equal(asked.filter((path) => path === '/token').length, 16);
  assert.deepEqual(new Set(reasons), new Set(['Issuer', 'Busy']));
});

test('an address that repeats forged sign-ins is soon rejected without requests and writes', async (context) => {
  const { asked, oidc } = issuer();
  const audited: AuditEvent[] = [];
  const record = (event: AuditEvent) => void audited.push(event);
  const audit = { path: '', newId: () => 'id', record, flush: async () => undefined };
  const api = await startTestApi({ oidcSignIn: oidc, audit });
  context.after(() => api.stop());
  const line = 'GET /console/sign-in/oidc/callback?state=s&code=c';
  const headers = { cookie: `__Host-everynode-attempt=${ATTEMPT}` };
  const codes: number[] = [];
  for (let count = 0; count < 60; count += 1) {
    const { code, headers: answered } = await call(api, line, { token: null, headers });
    codes.push(code);
    if (code === 302) assert.equal(answered.location, '/console/?refused=Issuer');
  }
  // 30 at once, and one per second.
  const told = codes.filter((code) => code === 302).length;
  assert.ok(told >= 30 && codes.includes(429), JSON.stringify(codes));
  assert.equal(asked.filter((path) => path === '/token').length, told);
  assert.equal(audited.length, told, 'one event each');
});
