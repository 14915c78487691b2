/** Kinds without objects: every kind of the clients' default lists is listed, and users may list it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ResourceTable } from '../../../coordinator/api/discovery/resource-table.js';
import { BOOTSTRAP_ROLES } from '../../../coordinator/decisions/access/bootstrap-roles.js';
import { rulesAllow } from '../../../coordinator/decisions/access/rule-allows.js';
import { ALL_KINDS } from '../../../coordinator/kinds/index.js';
import { UNSUPPORTED_KINDS } from '../../../coordinator/kinds/unsupported-kinds.js';

const ROWS = new ResourceTable(ALL_KINDS).rows.filter(({ isDiscovered }) => isDiscovered);

/** kubectl `pkg/cmd/apply/prune.go`, and `pkg/cmd/clusterinfo/clusterinfo_dump.go`. */
const DEFAULT_LISTS: [group: string, kind: string, namespaced: boolean][] = [
  ['', 'ConfigMap', true],
  ['', 'Endpoints', true],
  ['', 'Event', true],
  ['', 'Namespace', false],
  ['', 'Node', false],
  ['', 'PersistentVolumeClaim', true],
  ['', 'PersistentVolume', false],
  ['', 'Pod', true],
  ['', 'ReplicationController', true],
  ['', 'Secret', true],
  ['', 'Service', true],
  ['batch', 'Job', true],
  ['batch', 'CronJob', true],
  ['networking.k8s.io', 'Ingress', true],
  ['apps', 'DaemonSet', true],
  ['apps', 'Deployment', true],
  ['apps', 'ReplicaSet', true],
  ['apps', 'StatefulSet', true],
];

describe('clients list by default', () => {
  for (const [group, kind, namespaced] of DEFAULT_LISTS) {
    test(`${kind}`, () => {
      const row = ROWS.find((each) => each.group === group && each.version === 'v1' && each.kind === kind);
      assert.ok(row, 'it is in discovery');
      assert.ok(row.verbs.includes('list'));
      assert.equal(row.namespaced, namespaced);
    });
  }
});

function roleAllows(role: string, verb: string, group: string, resource: string): boolean {
  const rules =
    BOOTSTRAP_ROLES.find(({ metadata }) => metadata.name === `system:aggregate-to-${role}`)?.rules ?? [];
  return rulesAllow(rules, { verb, group, resource, subresource: '', namespace: 'a', name: '' });
}

for (const { kind, refusal } of UNSUPPORTED_KINDS) {
  const { group, resource, namespaced } = kind;
  test(`${kind.kind} has no verb that stores an object, and a refusal that names it`, () => {
    assert.deepEqual(kind.verbs, ['list', 'watch']);
    assert.ok(refusal.startsWith(`Everynode does not support ${kind.kind.slice(0, -1)}`), refusal);
    assert.equal(
      ALL_KINDS.some((each) => each.group === group && each.kind === kind.kind),
      false,
    );
  });
  test(`the roles view and edit ${namespaced ? 'have' : 'lack'} upstream's rules for ${resource}`, () => {
    assert.equal(roleAllows('view', 'list', group, resource), namespaced);
    assert.equal(roleAllows('edit', 'create', group, resource), namespaced);
    assert.equal(roleAllows('view', 'create', group, resource), false);
  });
}
