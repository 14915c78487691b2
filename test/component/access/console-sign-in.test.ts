/** Signing in to the console: the session has the user of the token, and no user can fill the sessions or get one for another user. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ADMIN } from '../../../coordinator/api/auth/token-authenticator.js';
import { DEFAULT_API_SETTINGS } from '../../../coordinator/api/http/api-context.js';
import type { Status } from '../../../shared/kube/objects/api-status.js';
import { type AccessFixture, person, roleRef, startAccessFixture } from '../../harness/api/access-fixture.js';
import { MemoryAuditLog } from '../../harness/api/audit-memory.js';
import { type CallAnswer, call } from '../../harness/api/https-call.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const owner = person('owner');

/** A fixture with the owner of the namespace `default`, and the audited sign-ins: code and user. */
async function startSignIns(
  context: TestContext,
  change: Parameters<typeof startAccessFixture>[0] = {},
): Promise<{ fixture: AccessFixture; audited: () => string[] }> {
  const audit = new MemoryAuditLog();
  const audited = () =>
    audit.events
      .filter(({ requestURI }) => requestURI === '/console/session')
      .map(({ responseStatus, user, impersonatedUser }) =>
        [responseStatus.code, user.username, impersonatedUser?.username ?? ''].join(' ').trim(),
      );
  const clientLimits = { requestsPerSecond: 0, burst: 0 };
  const fixture = await startAccessFixture({
    audit,
    settings: { ...DEFAULT_API_SETTINGS, clientLimits },
    ...change,
  });
  context.after(() => fixture.stop());
  await fixture.asAdmin(`POST ${RBAC}/namespaces/default/roles`, {
    metadata: { name: 'everything' },
    rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  });
  await fixture.bindRole('owner', roleRef('Role', 'everything'), { kind: 'User', name: 'owner' });
  return { fixture, audited };
}

function signIn(fixture: AccessFixture, token: string, headers: Record<string, string> = {}) {
  return call(fixture.api, 'POST /console/session', { token, headers });
}

/** Returns the user of a request with this cookie and without a token. */
async function userOf(fixture: AccessFixture, signedIn: CallAnswer): Promise<string> {
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
  const headers = { cookie, 'x-everynode-console': '1' };
  const path = 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews';
  const answer = await call(fixture.api, path, { token: null, headers, body: {} });
  const { status } = answer.json<{ status?: { userInfo?: { username: string } } }>();
  return status?.userInfo?.username ?? `${answer.code}`;
}

test('a sign-in with Impersonate-* headers is rejected, and audited under the name of the impersonator', async (context) => {
  const { fixture, audited } = await startSignIns(context);
  const token = fixture.admit(owner);
  const callers: [token: string, headers: Record<string, string>][] = [
    [token, { 'impersonate-user': 'system:serviceaccount:default:any' }],
    [token, { 'impersonate-group': 'system:masters' }],
    [fixture.admit(ADMIN), { 'impersonate-user': 'owner' }],
  ];
  for (const [whose, headers] of callers) {
    const refused = await signIn(fixture, whose, headers);
    assert.deepEqual([refused.code, refused.headers['set-cookie']], [400, undefined], refused.text);
    assert.match(refused.json<Status>().message ?? '', /without Impersonate-\* headers/);
  }
  assert.deepEqual(audited(), ['400 owner', '400 owner', `400 ${ADMIN.username}`]);
});

test('the owner of a namespace can neither exhaust the sessions nor end those of others', async (context) => {
  const { fixture } = await startSignIns(context);
  const token = fixture.admit(owner);
  const other = await signIn(fixture, fixture.admit(person('other')));
  const own = await signIn(fixture, token);
  const accounts = Array.from({ length: 300 }, (_, index) => `system:serviceaccount:default:a${index}`);
  for (const name of accounts) {
    assert.equal((await signIn(fixture, token, { 'impersonate-user': name })).code, 400);
    assert.equal((await signIn(fixture, fixture.admit(person(name)))).code, 204);
  }
  assert.equal(await userOf(fixture, other), 'other');
  assert.equal(await userOf(fixture, own), 'owner');
});

test('a token takes precedence over the client certificate of the connection', async (context) => {
  const { fixture, audited } = await startSignIns(context, { authenticateSocket: () => ADMIN });
  const headers = { 'sec-fetch-site': 'same-origin' };
  assert.equal((await signIn(fixture, fixture.admit(owner), headers)).code, 204);
  assert.equal((await signIn(fixture, 'unknown', headers)).code, 401);
  const byCertificate = await call(fixture.api, 'POST /console/session', { token: null, headers });
  assert.deepEqual([byCertificate.code, byCertificate.headers['set-cookie']], [204, undefined]);
  assert.deepEqual(audited(), ['204 owner', '401']);
});
