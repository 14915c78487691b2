/** Tokens of ServiceAccounts over HTTPS: identity, audience and expiry. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ISSUER, ServiceAccountTokens } from '../../../coordinator/access/service-account-tokens.js';
import { loadSigningKeys } from '../../../coordinator/access/token-signing-keys.js';
import { serviceAccountKind } from '../../../coordinator/kinds/index.js';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import { systemRandom } from '../../../shared/process/time/random.js';
import { type AccessFixture, roleRef, startAccessFixture } from '../../harness/api/access-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { withControlPlane } from '../../harness/controllers/control-plane-fixture.js';

let fixture: AccessFixture;
before(async () => {
  fixture = await startAccessFixture();
});
after(() => fixture.stop());

describe('tokens of ServiceAccounts', () => {
  const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
  const request = async (name: string, spec: object = {}) =>
    call(fixture.api, `POST ${ACCOUNTS}/${name}/token`, { body: { spec } });
  const tokenOf = async (name: string, spec: object = {}) => {
    const answer = await request(name, spec);
    return answer.json<{ status: { token: string } }>().status.token;
  };
  const whoIs = async (token: string, audiences?: string[]) => {
    const body = { spec: { token, ...(audiences ? { audiences } : {}) } };
    const answer = await call(fixture.api, 'POST /apis/authentication.k8s.io/v1/tokenreviews', { body });
    assert.ok(!answer.text.includes(token), 'the answer repeats the token');
    return answer.json<{ status: Record<string, unknown> }>().status;
  };
  before(() => fixture.asAdmin(`POST ${ACCOUNTS}`, { metadata: { name: 'robot' } }));

  test('identify their account and have its permissions', async () => {
    const token = await tokenOf('robot');
    const { authenticated, user } = await whoIs(token);
    assert.equal(authenticated, true);
    const { username, groups } = user as UserInfo;
    assert.equal(username, 'system:serviceaccount:default:robot');
    assert.deepEqual(groups, [
      'system:serviceaccounts',
      'system:serviceaccounts:default',
      'system:authenticated',
    ]);
    assert.equal((await call(fixture.api, 'GET /api/v1/namespaces/default/pods', { token })).code, 403);
    await fixture.bindRole('robot', roleRef('ClusterRole', 'view'), {
      kind: 'ServiceAccount',
      name: 'robot',
    });
    assert.equal((await call(fixture.api, 'GET /api/v1/namespaces/default/pods', { token })).code, 200);
  });

  test('are valid for their audiences', async () => {
    const token = await tokenOf('robot', { audiences: ['vault'] });
    assert.equal((await call(fixture.api, 'GET /apis', { token })).code, 401);
    assert.deepEqual((await whoIs(token, ['vault', 'other'])).audiences, ['vault']);
    assert.equal((await whoIs(token)).authenticated, false);
  });

  test('expire with their account, also when another of its name is created', async () => {
    await fixture.asAdmin(`POST ${ACCOUNTS}`, { metadata: { name: 'short' } });
    const token = await tokenOf('short');
    assert.equal((await call(fixture.api, 'GET /apis', { token })).code, 200);
    await fixture.asAdmin(`DELETE ${ACCOUNTS}/short`, undefined);
    assert.equal((await call(fixture.api, 'GET /apis', { token })).code, 401);
    await fixture.asAdmin(`POST ${ACCOUNTS}`, { metadata: { name: 'short' } });
    assert.equal((await call(fixture.api, 'GET /apis', { token })).code, 401);
  });

  test('expire with the object that they are bound to', async () => {
    const secrets = '/api/v1/namespaces/default/secrets';
    await fixture.asAdmin(`POST ${secrets}`, { metadata: { name: 'bound' } });
    const token = await tokenOf('robot', {
      boundObjectRef: { kind: 'Secret', name: 'bound', apiVersion: 'v1' },
    });
    assert.equal((await call(fixture.api, 'GET /apis', { token })).code, 200);
    await fixture.asAdmin(`DELETE ${secrets}/bound`, undefined);
    assert.equal((await call(fixture.api, 'GET /apis', { token })).code, 401);
  });

  for (const [title, spec, code] of [
    ['less than ten minutes', { expirationSeconds: 599 }, 422],
    ['a missing object', { boundObjectRef: { kind: 'Secret', name: 'none' } }, 404],
    ['a kind that no token can be bound to', { boundObjectRef: { kind: 'ConfigMap', name: 'a' } }, 400],
    ['audiences that are not a list', { audiences: 'a' }, 400],
  ] as [string, object, number][]) {
    test(`are not issued for ${title}`, async () => assert.equal((await request('robot', spec)).code, code));
  }

  test('changed, truncated or signed by another key are rejected', async () => {
    const token = await tokenOf('robot');
    const [head = '', body = '', signature = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'system:serviceaccount:kube-system:x' }));
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const wrong = [
      `${head}.${forged.toString('base64url')}.${signature}`,
      `${none}.${body}.`,
      `${head}.${body}.${'A'.repeat(signature.length)}`,
      `${head}.${body}`,
      `${token}A`,
    ];
    for (const each of wrong)
      assert.equal((await call(fixture.api, 'GET /apis', { token: each })).code, 401, each);
  });
});

describe("when the coordinator's clock is set", () => {
  const HOUR_MS = 3_600_000;
  const MINUTE_MS = 60_000;

  withControlPlane(
    'a token is valid within its times, with a minute of tolerance, and again when the clock is right',
    async (plane) => {
      const { clock, registry } = plane;
      const keys = await loadSigningKeys(temporaryDirectory());
      const robot = await registry.create(serviceAccountKind, 'default', { metadata: { name: 'robot' } });
      const { uid = '' } = robot.object().metadata;
      const tokens = new ServiceAccountTokens({ keys, registry, clock, random: systemRandom });
      const { token } = await tokens.issue({
        serviceAccount: { namespace: 'default', name: 'robot', uid },
        audiences: [ISSUER],
        expirationSeconds: 3_600,
      });
      for (const [byMs, refusal] of [
        [0, undefined],
        [-MINUTE_MS, undefined],
        [-MINUTE_MS - 1_000, /not valid yet/],
        [365 * 24 * HOUR_MS, /expired/],
        [HOUR_MS + MINUTE_MS, /expired/],
        [HOUR_MS + MINUTE_MS - 1_000, undefined],
      ] as const) {
        clock.stepWallClock(byMs);
        if (refusal) await assert.rejects(tokens.verify(token), refusal, `${byMs}`);
        else assert.equal((await tokens.verify(token))?.user.uid, uid, `${byMs}`);
        clock.stepWallClock(-byMs);
        assert.equal((await tokens.verify(token))?.user.uid, uid, `right after ${byMs}`);
      }
    },
  );
});
