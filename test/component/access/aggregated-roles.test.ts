/** The rules of aggregated ClusterRoles, and who owns them (`pkg/controller/clusterroleaggregation`). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PolicyRule, Role } from '../../../shared/kube/access/rbac-types.js';
import { type AccessFixture, startAccessFixture } from '../../harness/api/access-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { until } from '../../harness/basics/wait-until.js';

const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const RULE: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

let fixture: AccessFixture;
before(async () => {
  fixture = await startAccessFixture();
});
after(() => fixture.stop());

function aggregated(rules: object): object {
  return {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'sum' } },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'add-to': 'sum' } }] },
    ...rules,
  };
}

function applySum(body: object) {
  return call(fixture.api, `PATCH ${ROLES}/sum?fieldManager=helm`, { body, headers: APPLY });
}

test('the controller owns the rules: an apply with rules conflicts, one without them does not', async () => {
  const part = { metadata: { name: 'part', labels: { 'add-to': 'sum' } }, rules: [RULE] };
  await fixture.asAdmin(`POST ${ROLES}`, part);
  assert.equal((await applySum(aggregated({ rules: [] }))).code, 201);
  const sum = async () => (await call(fixture.api, `GET ${ROLES}/sum`)).json<Role>();
  await until(async () => (await sum()).rules?.length === 1, {
    timeoutMs: 10_000,
    what: 'the rules to be gathered',
  });
  const owner = (await sum()).metadata.managedFields?.find(
    ({ manager }) => manager === 'clusterrole-aggregation-controller',
  );
  assert.deepEqual([owner?.operation, owner?.fieldsV1], ['Apply', { 'f:rules': {} }]);
  const again = await applySum(aggregated({ rules: [] }));
  assert.equal(again.code, 409);
  assert.match(
    again.text,
    /Apply failed with 1 conflict: conflict with \\"clusterrole-aggregation-controller\\": \.rules/,
  );
  assert.equal((await applySum(aggregated({}))).code, 200);
  assert.deepEqual((await sum()).rules, [RULE]);
});
