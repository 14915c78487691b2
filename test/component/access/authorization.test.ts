/** Authorization over HTTPS: roles, impersonation, and privilege escalation. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { certificateRequest } from '../../../agent/identity/host-certificate-request.js';
import type { PolicyRule, UserInfo } from '../../../shared/kube/access/rbac-types.js';
import type { Status } from '../../../shared/kube/objects/api-status.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { type AccessFixture, person, roleRef, startAccessFixture } from '../../harness/api/access-fixture.js';
import { type CallAnswer, call } from '../../harness/api/https-call.js';
import { podObject } from '../../harness/objects/object-builders.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const DEFAULT = `${RBAC}/namespaces/default`;

let fixture: AccessFixture;
before(async () => {
  fixture = await startAccessFixture();
});
after(() => fixture.stop());

function message(answer: CallAnswer): string {
  return answer.json<Status>().message ?? '';
}

test('no credentials is a 401, a user without roles a 403 with upstream’s message', async () => {
  const nobody = await call(fixture.api, 'GET /api/v1/pods', { token: null });
  assert.deepEqual([nobody.code, message(nobody)], [401, 'Unauthorized']);
  const ann = person('ann');
  const texts: [string, string][] = [
    [
      'GET /api/v1/namespaces/default/pods',
      'pods is forbidden: User "ann" cannot list resource "pods" in API group "" in the namespace "default"',
    ],
    [
      'GET /api/v1/nodes/n1',
      'nodes "n1" is forbidden: User "ann" cannot get resource "nodes" in API group "" at the cluster scope',
    ],
    [
      'DELETE /apis/apps/v1/namespaces/default/daemonsets/x',
      'daemonsets.apps "x" is forbidden: User "ann" cannot delete resource "daemonsets" in API group "apps" in the namespace "default"',
    ],
    [
      'GET /api/v1/namespaces/default/pods/x/log',
      'pods "x" is forbidden: User "ann" cannot get resource "pods/log" in API group "" in the namespace "default"',
    ],
    ['GET /metrics', 'forbidden: User "ann" cannot get path "/metrics"'],
  ];
  for (const [line, text] of texts) {
    const answer = await fixture.as(ann, line);
    assert.deepEqual([answer.code, message(answer)], [403, text]);
  }
  assert.equal((await fixture.as(ann, 'GET /apis')).code, 200);
  assert.equal((await fixture.as(ann, 'GET /healthz')).code, 200);
});

test('a binding applies to its namespace only, and only while it exists', async () => {
  const ben = person('ben', 'readers');
  await fixture.bindRole('readers', roleRef('ClusterRole', 'view'), { kind: 'Group', name: 'readers' });
  assert.equal((await fixture.as(ben, 'GET /api/v1/namespaces/default/pods')).code, 200);
  assert.equal((await fixture.as(ben, 'GET /api/v1/namespaces/kube-system/pods')).code, 403);
  assert.equal((await fixture.as(ben, 'GET /api/v1/pods')).code, 403);
  assert.equal((await fixture.as(ben, 'GET /api/v1/namespaces/default')).code, 200);
  assert.equal((await fixture.as(ben, 'GET /api/v1/namespaces/default/secrets')).code, 403);
  await fixture.asAdmin(`DELETE ${DEFAULT}/rolebindings/readers`, undefined);
  assert.equal((await fixture.as(ben, 'GET /api/v1/namespaces/default/pods')).code, 403);
});

test('a role may name objects, and then allows a list that selects one of them', async () => {
  const cid = person('cid');
  await fixture.grantRules(cid, [
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'] },
  ]);
  const maps = '/api/v1/namespaces/default/configmaps';
  assert.equal((await fixture.as(cid, `GET ${maps}/one`)).code, 404);
  assert.equal((await fixture.as(cid, `GET ${maps}/two`)).code, 403);
  assert.equal((await fixture.as(cid, `GET ${maps}`)).code, 403);
  assert.equal((await fixture.as(cid, `GET ${maps}?fieldSelector=metadata.name%3Done`)).code, 200);
});

test('a binding to a missing role is reported', async () => {
  const dan = person('dan');
  await fixture.bindRole('lost', roleRef('Role', 'lost'), { kind: 'User', name: 'dan' });
  const text = message(await fixture.as(dan, 'GET /api/v1/namespaces/default/pods'));
  assert.match(
    text,
    /in the namespace "default": RBAC: role\.rbac\.authorization\.k8s\.io "lost" not found$/,
  );
});

describe('privilege escalation is rejected:', () => {
  const eva = person('eva');
  const rules: PolicyRule[] = [{ verbs: ['get', 'delete'], apiGroups: [''], resources: ['pods'] }];
  before(async () => {
    await fixture.grantRules(eva, [
      {
        verbs: ['*'],
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['roles', 'rolebindings', 'clusterroles'],
      },
      { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
    ]);
    // `*` on roles includes `escalate` and `bind`, so these two are removed.
    await fixture.asAdmin(`PUT ${RBAC}/clusterroles/of-eva`, {
      metadata: { name: 'of-eva' },
      rules: [
        {
          verbs: ['get', 'create', 'update', 'patch'],
          apiGroups: ['rbac.authorization.k8s.io'],
          resources: ['roles', 'rolebindings', 'clusterroles'],
        },
        { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
      ],
    });
  });

  test('a role with more rules', async () => {
    const answer = await fixture.as(eva, `POST ${DEFAULT}/roles`, { metadata: { name: 'more' }, rules });
    assert.equal(answer.code, 403);
    assert.equal(
      message(answer),
      'roles.rbac.authorization.k8s.io "more" is forbidden: user "eva" (groups=["system:authenticated"]) is attempting to ' +
        'grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
    );
  });

  test("a role with the user's own rules, and a patch that adds others", async () => {
    const own = { metadata: { name: 'own' }, rules: [{ ...rules[0], verbs: ['get'] }] };
    assert.equal((await fixture.as(eva, `POST ${DEFAULT}/roles`, own)).code, 201);
    const headers = { 'content-type': 'application/merge-patch+json' };
    assert.equal((await fixture.as(eva, `PATCH ${DEFAULT}/roles/own`, { rules }, headers)).code, 403);
    const label = { metadata: { labels: { a: 'b' } } };
    assert.equal((await fixture.as(eva, `PATCH ${DEFAULT}/roles/own`, label, headers)).code, 200);
  });

  test('a binding to a role with more rules', async () => {
    const subjects = [{ kind: 'User', name: 'eva' }];
    const body = { metadata: { name: 'up' }, roleRef: roleRef('ClusterRole', 'cluster-admin'), subjects };
    const answer = await fixture.as(eva, `POST ${DEFAULT}/rolebindings`, body);
    assert.equal(answer.code, 403);
    assert.match(
      message(answer),
      /not currently held:\n\{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]\}/,
    );
    const missing = { ...body, roleRef: roleRef('Role', 'nowhere') };
    assert.equal((await fixture.as(eva, `POST ${DEFAULT}/rolebindings`, missing)).code, 404);
  });

  test('a role that aggregates others', async () => {
    const body = { metadata: { name: 'all' }, rules: [], aggregationRule: { clusterRoleSelectors: [{}] } };
    const answer = await fixture.as(eva, `POST ${RBAC}/clusterroles`, body);
    assert.match(message(answer), /must have cluster-admin privileges to use an aggregationRule$/);
  });

  test('with the verb bind the role can be bound', async () => {
    const fay = person('fay');
    await fixture.grantRules(fay, [
      { verbs: ['create'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'] },
      {
        verbs: ['bind'],
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['clusterroles'],
        resourceNames: ['view'],
      },
    ]);
    const body = (name: string) => ({
      metadata: { name: `f-${name}` },
      roleRef: roleRef('ClusterRole', name),
      subjects: [],
    });
    assert.equal((await fixture.as(fay, `POST ${DEFAULT}/rolebindings`, body('view'))).code, 201);
    assert.equal((await fixture.as(fay, `POST ${DEFAULT}/rolebindings`, body('edit'))).code, 403);
  });
});

test('a patch that creates an object needs permission to create', async () => {
  const gus = person('gus');
  await fixture.grantRules(gus, [{ verbs: ['get', 'patch'], apiGroups: [''], resources: ['configmaps'] }]);
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } };
  const path = '/api/v1/namespaces/default/configmaps/new?fieldManager=t';
  const answer = await fixture.as(gus, `PATCH ${path}`, body, headers);
  assert.match(message(answer), /cannot create resource "configmaps"/);
});

describe('impersonation', () => {
  test('needs permission for the user and for each group', async () => {
    const hal = person('hal');
    await fixture.grantRules(hal, [
      { verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['ida'] },
    ]);
    const ida = { 'impersonate-user': 'ida' };
    assert.match(
      message(await fixture.as(hal, 'GET /api/v1/nodes', undefined, ida)),
      /^nodes is forbidden: User "ida"/,
    );
    const group = { ...ida, 'impersonate-group': 'system:masters' };
    assert.equal(
      message(await fixture.as(hal, 'GET /api/v1/nodes', undefined, group)),
      'groups "system:masters" is forbidden: User "hal" cannot impersonate resource "groups" in API group "" at the cluster scope',
    );
    const other = { 'impersonate-user': 'jon' };
    assert.match(
      message(await fixture.as(hal, 'GET /api/v1/nodes', undefined, other)),
      /^users "jon" is forbidden: User "hal"/,
    );
  });

  test('of groups alone is rejected', async () => {
    const answer = await call(fixture.api, 'GET /api/v1/nodes', { headers: { 'impersonate-group': 'a' } });
    assert.equal(answer.code, 400);
  });
});

test('no user can create a mirror Pod, or turn a Pod into one or back', async () => {
  const eve = person('eve');
  await fixture.grantRules(eve, [{ verbs: ['*'], apiGroups: [''], resources: ['pods', 'pods/status'] }]);
  const pods = '/api/v1/namespaces/default/pods';
  const mirror = { 'kubernetes.io/config.mirror': 'x' };
  const marked = { ...podObject('marked'), metadata: { name: 'marked', annotations: mirror } };
  const refused = await fixture.as(eve, `POST ${pods}`, marked);
  assert.deepEqual(
    [refused.code, message(refused)],
    [
      403,
      'pods "marked" is forbidden: pod has "kubernetes.io/config.mirror" annotation, only nodes can create mirror pods',
    ],
  );
  const template = { metadata: { labels: { a: 'b' }, annotations: mirror }, spec: podObject('any').spec };
  const spec = { selector: { matchLabels: { a: 'b' } }, template };
  const set = await call(fixture.api, 'POST /apis/apps/v1/namespaces/default/daemonsets', {
    body: { metadata: { name: 'marked' }, spec },
  });
  assert.equal(set.code, 422);
  assert.equal(
    message(set),
    'DaemonSet.apps "marked" is invalid: spec.template.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
  );
  assert.equal((await fixture.as(eve, `POST ${pods}`, podObject('plain'))).code, 201);
  const patch = { 'content-type': 'application/merge-patch+json' };
  for (const path of [`${pods}/plain`, `${pods}/plain/status`]) {
    const body = { metadata: { annotations: mirror } };
    const added = await fixture.as(eve, `PATCH ${path}`, body, patch);
    assert.equal(added.code, 422, added.text);
    assert.equal(
      message(added),
      'Pod "plain" is invalid: metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation',
    );
  }
});

test('approving and signing need permission for the signer too', async () => {
  const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const group = 'certificates.k8s.io';
  const resources = ['certificatesigningrequests/approval', 'certificatesigningrequests/status'];
  const writes: PolicyRule = { verbs: ['get', 'update', 'patch'], apiGroups: [group], resources };
  const signers = (verb: string, name: string): PolicyRule => ({
    verbs: [verb],
    apiGroups: [group],
    resources: ['signers'],
    resourceNames: [name],
  });
  const [none, other, exact, domain] = ['none', 'other', 'exact', 'domain'].map((name) =>
    person(`signer-${name}`),
  ) as [UserInfo, UserInfo, UserInfo, UserInfo];
  await fixture.grantRules(none, [writes]);
  await fixture.grantRules(other, [
    writes,
    signers('approve', 'example.com/other'),
    signers('approve', 'b.example.com/*'),
  ]);
  await fixture.grantRules(exact, [writes, signers('approve', 'example.com/one')]);
  await fixture.grantRules(domain, [
    writes,
    signers('approve', 'example.com/*'),
    signers('sign', 'example.com/*'),
  ]);
  const request = Buffer.from(await certificateRequest(await generateKeyPem(), 'n1')).toString('base64');
  const file = (name: string) =>
    fixture.asAdmin(`POST ${requests}`, {
      metadata: { name },
      spec: { request, signerName: 'example.com/one', usages: ['client auth'] },
    });
  await file('one');
  await file('two');
  const patch = { 'content-type': 'application/merge-patch+json' };
  const write = (user: UserInfo, path: string, type: string) => {
    const condition = { type, status: 'True', reason: 'Test', message: 'x' };
    return fixture.as(user, `PATCH ${requests}/${path}`, { status: { conditions: [condition] } }, patch);
  };
  for (const user of [none, other]) {
    const answer = await write(user, 'one/approval', 'Approved');
    assert.equal(answer.code, 403, answer.text);
    assert.equal(
      message(answer),
      'certificatesigningrequests.certificates.k8s.io "one" is forbidden: user not permitted to approve requests with signerName "example.com/one"',
    );
  }
  assert.equal((await write(exact, 'one/approval', 'Approved')).code, 200);
  assert.equal((await write(domain, 'two/approval', 'Approved')).code, 200);
  const unsigned = await write(exact, 'one/status', 'Failed');
  assert.equal(unsigned.code, 403, unsigned.text);
  assert.match(
    message(unsigned),
    /: user not permitted to sign requests with signerName "example.com\/one"$/,
  );
  // A patch without certificate and conditions is accepted and has no effect.
  assert.equal((await fixture.as(exact, `PATCH ${requests}/one/status`, {}, patch)).code, 200);
  assert.equal((await write(domain, 'one/status', 'Failed')).code, 200);
});

describe('steering a DaemonJob', () => {
  const FLEET = 'fleet.everynode.dev';
  const JOBS = `/apis/${FLEET}/v1/namespaces/default/daemonjobs`;
  const patch = (user: UserInfo, steering: Record<string, string>) => {
    const named = Object.entries(steering).map(([key, value]) => [`${FLEET}/${key}`, value]);
    return fixture.as(
      user,
      `PATCH ${JOBS}/flash`,
      { metadata: { annotations: Object.fromEntries(named) } },
      { 'content-type': 'application/merge-patch+json' },
    );
  };
  const [editor, operator] = [person('kim'), person('lee')];
  const rule = (resource: string, ...verbs: string[]): PolicyRule => ({
    ...{ apiGroups: [FLEET], resources: [resource], verbs },
  });
  before(async () => {
    const change = rule('daemonjobs', 'create', 'patch');
    await fixture.grantRules(editor, [change]);
    await fixture.grantRules(operator, [change, rule('rollouts', 'patch')]);
    const spec = { template: { spec: { containers: [{ name: 'c', image: 'flash:1' }] } } };
    const created = await fixture.as(editor, `POST ${JOBS}`, { metadata: { name: 'flash' }, spec });
    assert.equal(created.code, 201, created.text);
  });

  const STEERING: readonly Record<string, string>[] = [
    { approve: 'rest' },
    { promote: 'canary' },
    { 'override-locks': '*', reason: 'recall' },
  ];
  for (const steering of STEERING)
    test(`by ${Object.keys(steering)[0]} needs the right to patch its Rollout, like a DaemonSet`, async () => {
      const refused = await patch(editor, steering);
      assert.deepEqual(
        [refused.code, message(refused)],
        [
          403,
          'rollouts.fleet.everynode.dev "flash" is forbidden: User "kim" cannot patch resource "rollouts" in API group "fleet.everynode.dev" in the namespace "default"',
        ],
      );
      assert.equal((await patch(operator, steering)).code, 200);
      assert.equal((await patch(editor, { note: 'x' })).code, 200, 'other annotations need no more');
    });

  test('by the lock of an unknown host is refused', async () => {
    const refused = await patch(operator, { 'override-locks': 'nowhere', reason: 'recall' });
    assert.equal(refused.code, 422);
    assert.match(message(refused), /override-locks\]: Not found: "nowhere"/);
  });
});
