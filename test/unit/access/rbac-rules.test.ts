/** Authorization by a single rule, and the rules that a user may grant. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BOOTSTRAP_ROLES } from '../../../coordinator/decisions/access/bootstrap-roles.js';
import {
  aggregatedRules,
  repairedBinding,
  repairedRole,
} from '../../../coordinator/decisions/access/role-repair.js';
import { ruleAllows, rulesAllow } from '../../../coordinator/decisions/access/rule-allows.js';
import { compactRule, uncoveredRules } from '../../../coordinator/decisions/access/rule-coverage.js';
import type { PolicyRule, ResourceAccess, Role } from '../../../shared/kube/access/rbac-types.js';

function access(change: Partial<ResourceAccess> = {}): ResourceAccess {
  return { verb: 'get', group: '', resource: 'pods', subresource: '', namespace: 'a', name: 'x', ...change };
}

const PODS: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };

const TABLE: [title: string, rule: PolicyRule, access: Parameters<typeof ruleAllows>[1], allowed: boolean][] =
  [
    ['the same verb, group and resource', PODS, access(), true],
    ['another verb', PODS, access({ verb: 'delete' }), false],
    ['another group', PODS, access({ group: 'apps' }), false],
    ['another resource', PODS, access({ resource: 'secrets' }), false],
    ['a resource does not include its subresources', PODS, access({ subresource: 'log' }), false],
    ['a subresource by name', { ...PODS, resources: ['pods/log'] }, access({ subresource: 'log' }), true],
    ['a subresource does not include its resource', { ...PODS, resources: ['pods/log'] }, access(), false],
    [
      'a subresource of all resources',
      { ...PODS, resources: ['*/log'] },
      access({ subresource: 'log' }),
      true,
    ],
    [
      'another subresource of all resources',
      { ...PODS, resources: ['*/scale'] },
      access({ subresource: 'log' }),
      false,
    ],
    [
      'all resources include subresources',
      { ...PODS, resources: ['*'] },
      access({ subresource: 'log' }),
      true,
    ],
    ['any verb', { ...PODS, verbs: ['*'] }, access({ verb: 'escalate' }), true],
    ['any group', { ...PODS, apiGroups: ['*'] }, access({ group: 'apps' }), true],
    ['a wildcard is not a prefix', { ...PODS, resources: ['pod*'] }, access(), false],
    ['a listed name', { ...PODS, resourceNames: ['x', 'y'] }, access(), true],
    ['a name that is not listed', { ...PODS, resourceNames: ['y'] }, access(), false],
    [
      'resource names, and a list request without a name',
      { ...PODS, resourceNames: ['x'] },
      access({ verb: 'list', name: '' }),
      false,
    ],
    ['no groups', { verbs: ['*'], resources: ['*'] }, access(), false],
    ['a path', { verbs: ['get'], nonResourceURLs: ['/metrics'] }, { verb: 'get', path: '/metrics' }, true],
    [
      'a path below',
      { verbs: ['get'], nonResourceURLs: ['/metrics'] },
      { verb: 'get', path: '/metrics/a' },
      false,
    ],
    [
      'a path by its prefix',
      { verbs: ['get'], nonResourceURLs: ['/api/*'] },
      { verb: 'get', path: '/api/v1' },
      true,
    ],
    [
      'a star in the middle is not a wildcard',
      { verbs: ['get'], nonResourceURLs: ['/a/*/b'] },
      { verb: 'get', path: '/a/x/b' },
      false,
    ],
    ['every path', { verbs: ['*'], nonResourceURLs: ['*'] }, { verb: 'post', path: '/x' }, true],
    [
      'resource rules do not apply to paths',
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verb: 'get', path: '/x' },
      false,
    ],
  ];

describe('a rule and', () => {
  for (const [title, rule, wanted, allowed] of TABLE) {
    test(title, () => assert.equal(ruleAllows(rule, wanted), allowed));
  }
});

const name = fc.constantFrom('a', 'b', '*');
const anyRule: fc.Arbitrary<PolicyRule> = fc.record({
  verbs: fc.uniqueArray(fc.constantFrom('get', 'list', '*'), { minLength: 1 }),
  apiGroups: fc.uniqueArray(name, { minLength: 1 }),
  resources: fc.uniqueArray(fc.constantFrom('a', 'b', 'a/s', '*/s', '*'), { minLength: 1 }),
  resourceNames: fc.uniqueArray(fc.constantFrom('n', 'm')),
});
const anyAccess = fc.record({
  verb: fc.constantFrom('get', 'list'),
  group: fc.constantFrom('a', 'b', 'c'),
  resource: fc.constantFrom('a', 'b', 'c'),
  subresource: fc.constantFrom('', 's', 't'),
  namespace: fc.constant(''),
  name: fc.constantFrom('', 'n', 'm', 'o'),
});

test('a user whose rules cover a rule may do everything that it allows', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 4 }), anyRule, anyAccess, (held, wanted, asked) => {
      if (uncoveredRules(held, [wanted]).length === 0 && ruleAllows(wanted, asked)) {
        assert.ok(rulesAllow(held, asked));
      }
    }),
  );
});

test('every user covers their own rules', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 4 }), (held) => {
      assert.deepEqual(uncoveredRules(held, held), []);
    }),
  );
});

test('missing permissions are reported one by one', () => {
  const missing = uncoveredRules([PODS], [{ ...PODS, verbs: ['get', 'delete'], resourceNames: ['x'] }]);
  assert.deepEqual(missing.map(compactRule), [
    '{APIGroups:[""], Resources:["pods"], ResourceNames:["x"], Verbs:["delete"]}',
  ]);
});

function role(named: string): Role {
  const found = BOOTSTRAP_ROLES.find(({ metadata }) => metadata.name === named);
  assert.ok(found, named);
  return found;
}

/** Returns the aggregated rules of a built-in role, aggregated until nothing changes, like the controller. */
function gathered(named: string): PolicyRule[] {
  let roles = [...BOOTSTRAP_ROLES];
  for (let round = 0; round < roles.length; round++) {
    roles = roles.map((one) => (one.aggregationRule ? { ...one, rules: aggregatedRules(one, roles) } : one));
  }
  return roles.find(({ metadata }) => metadata.name === named)?.rules ?? [];
}

const BUILT_IN: [role: string, access: Partial<ResourceAccess>, allowed: boolean][] = [
  ['view', { verb: 'list' }, true],
  ['view', { resource: 'secrets' }, false],
  ['view', { verb: 'create', subresource: 'exec' }, false],
  ['view', { subresource: 'log' }, true],
  ['view', { resource: 'persistentvolumeclaims', subresource: 'status' }, true],
  ['view', { resource: 'resourcequotas', subresource: 'status' }, true],
  ['view', { resource: 'limitranges' }, true],
  ['view', { group: 'apps', resource: 'deployments', subresource: 'status' }, true],
  ['view', { group: 'apps', resource: 'replicasets', subresource: 'status' }, true],
  ['view', { group: 'batch', resource: 'jobs', subresource: 'status' }, true],
  ['view', { group: 'batch', resource: 'cronjobs', subresource: 'status' }, true],
  ['view', { group: 'autoscaling', resource: 'horizontalpodautoscalers', subresource: 'status' }, true],
  ['view', { group: 'policy', resource: 'poddisruptionbudgets', subresource: 'status' }, true],
  ['view', { verb: 'update', group: 'batch', resource: 'jobs', subresource: 'status' }, false],
  ['view', { group: 'fleet.everynode.dev', resource: 'rollouts' }, true],
  ['view', { verb: 'patch', group: 'fleet.everynode.dev', resource: 'rollouts' }, false],
  ['view', { group: 'rbac.authorization.k8s.io', resource: 'roles' }, false],
  ['edit', { verb: 'list' }, true],
  ['edit', { resource: 'secrets' }, true],
  ['edit', { verb: 'create', subresource: 'exec' }, true],
  ['edit', { verb: 'patch', group: 'apps', resource: 'daemonsets' }, true],
  ['edit', { verb: 'patch', group: 'fleet.everynode.dev', resource: 'rollouts' }, true],
  ['edit', { verb: 'create', resource: 'serviceaccounts', subresource: 'token' }, true],
  ['edit', { verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'roles' }, false],
  ['edit', { verb: 'update', resource: 'pods', subresource: 'status' }, false],
  ['edit', { verb: 'delete', resource: 'namespaces' }, false],
  ['edit', { resource: 'nodes' }, false],
  ['admin', { verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'rolebindings' }, true],
  ['admin', { verb: 'delete', resource: 'namespaces' }, false],
  ['admin', { verb: 'bind', group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }, false],
  ['cluster-admin', { verb: 'bind', group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }, true],
];

describe('built-in roles', () => {
  for (const [named, change, allowed] of BUILT_IN) {
    const { verb = 'get', resource = 'pods', subresource } = change;
    const text = `${named} ${allowed ? 'may' : 'may not'} ${verb} ${resource}${subresource ? `/${subresource}` : ''}`;
    test(text, () => assert.equal(rulesAllow(gathered(named), access(change)), allowed));
  }
});

test('a start restores missing rules of a built-in role and removes none', () => {
  const wanted = role('system:basic-user');
  const extra: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['nodes'] };
  const present = { ...wanted, rules: [extra, ...(wanted.rules ?? []).slice(1)] };
  assert.deepEqual(repairedRole(present, wanted).rules, [...present.rules, wanted.rules?.[0]]);
  const metadata = {
    ...present.metadata,
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' },
  };
  assert.equal(repairedRole({ ...present, metadata }, wanted).rules?.length, present.rules.length);
});

test('a binding to another role is created again', () => {
  const wanted = {
    apiVersion: 'v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'b' },
    roleRef: { kind: 'ClusterRole', name: 'r' },
    subjects: [],
  };
  assert.equal(
    repairedBinding({ ...wanted, roleRef: { kind: 'ClusterRole', name: 's' } }, wanted),
    undefined,
  );
});
