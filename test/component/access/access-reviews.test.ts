/** Access reviews over HTTPS. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PolicyRule, UserInfo } from '../../../shared/kube/access/rbac-types.js';
import { type AccessFixture, person, roleRef, startAccessFixture } from '../../harness/api/access-fixture.js';
import { call } from '../../harness/api/https-call.js';

let fixture: AccessFixture;
before(async () => {
  fixture = await startAccessFixture();
});
after(() => fixture.stop());

describe('reviews', () => {
  const spec = (verb: string) => ({ resourceAttributes: { namespace: 'default', verb, resource: 'pods' } });
  const review = async (kind: string, body: object, user?: UserInfo, namespace = '') => {
    const line = `POST /apis/authorization.k8s.io/v1${namespace}/${kind.toLowerCase()}s`;
    const answer = user ? await fixture.as(user, line, body) : await call(fixture.api, line, { body });
    return answer.json<{ status: Record<string, unknown> }>().status;
  };
  const kim = person('kim');
  before(() => fixture.bindRole('kim', roleRef('ClusterRole', 'view'), { kind: 'User', name: 'kim' }));

  test('may I', async () => {
    assert.deepEqual(await review('SelfSubjectAccessReview', { spec: spec('list') }, kim), {
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "kim/default" of ClusterRole "view" to User "kim"',
    });
    assert.deepEqual(await review('SelfSubjectAccessReview', { spec: spec('delete') }, kim), {
      allowed: false,
    });
  });

  test('a review within a namespace is rejected for paths, which are outside every namespace', async () => {
    const line = 'POST /apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews';
    const body = { spec: { user: 'kim', nonResourceAttributes: { verb: 'get', path: '/metrics' } } };
    const refused = await call(fixture.api, line, { body });
    assert.equal(refused.code, 422, refused.text);
    assert.match(refused.text, /spec\.nonResourceAttributes: .*disallowed on this kind of request/);
  });

  test('a field of another type is 400; null counts as absent', async () => {
    const line = 'POST /apis/authorization.k8s.io/v1/subjectaccessreviews';
    const codeOf = async (change: object) =>
      (await call(fixture.api, line, { body: { spec: { ...spec('list'), user: 'kim', ...change } } })).code;
    const wrong = [
      ...[{ groups: 'system:masters' }, { groups: {} }, { groups: [5] }, { user: 5 }, { uid: [] }],
      ...[{ extra: { a: 'b' } }, { extra: 5 }, { resourceAttributes: 5 }],
      ...[{ resourceAttributes: { verb: ['list'] } }, { resourceAttributes: { resource: 'pods', name: {} } }],
    ];
    for (const change of wrong) assert.equal(await codeOf(change), 400, JSON.stringify(change));
    const absent = { groups: null, uid: null, extra: null, nonResourceAttributes: null };
    assert.equal(await codeOf(absent), 201);
  });

  test('a user may review the access of other users with a role for it only', async () => {
    const asked = { spec: { ...spec('list'), user: 'kim', groups: [] } };
    assert.equal((await review('SubjectAccessReview', asked)).allowed, true);
    assert.equal(
      (await fixture.as(kim, 'POST /apis/authorization.k8s.io/v1/subjectaccessreviews', asked)).code,
      403,
    );
    const local = await review('LocalSubjectAccessReview', asked, undefined, '/namespaces/default');
    assert.equal(local.allowed, true);
  });

  test('what may I', async () => {
    const { resourceRules } = await review('SelfSubjectRulesReview', { spec: { namespace: 'default' } }, kim);
    assert.ok((resourceRules as PolicyRule[]).some(({ resources }) => resources?.includes('daemonsets')));
  });

  test('a review needs either a resource or a path', async () => {
    for (const body of [
      {},
      { spec: { ...spec('get'), nonResourceAttributes: { path: '/', verb: 'get' } } },
    ]) {
      const answer = await call(fixture.api, 'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        body,
      });
      assert.equal(answer.code, 422);
    }
  });
});
