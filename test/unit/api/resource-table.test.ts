/** The table of all resources is complete, and each row has handlers for all its verbs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasRightScope, verbsAt } from '../../../coordinator/api/discovery/resource-scope.js';
import { ResourceTable } from '../../../coordinator/api/discovery/resource-table.js';
import { ALL_KINDS } from '../../../coordinator/kinds/index.js';
import { LISTED_RESOURCES } from '../../harness/api/served-resources.js';

const TABLE = new ResourceTable(ALL_KINDS);

test('the table contains the resources that the tests expect, with their scopes and subresources', () => {
  const rows = TABLE.rows.map(({ group, version, resource, namespaced, subresources }) => ({
    root: group ? `/apis/${group}/${version}` : `/api/${version}`,
    resource,
    namespaced,
    subresources: Object.keys(subresources).sort(),
  }));
  const sorted = (each: readonly { root: string; resource: string }[]) =>
    each.toSorted((a, b) => (`${a.root}/${a.resource}` < `${b.root}/${b.resource}` ? -1 : 1));
  assert.deepEqual(sorted(rows), sorted(LISTED_RESOURCES));
});

test('every subresource has a handler', () => {
  for (const { resource, subresources, subresourceHandlers } of TABLE.rows) {
    assert.deepEqual(Object.keys(subresourceHandlers).sort(), Object.keys(subresources).sort(), resource);
  }
});

const NODES = {
  namespaced: false,
  verbs: ['get', 'list', 'create', 'delete', 'deletecollection'],
  subresources: { status: { group: '', version: 'v1', kind: 'Node', verbs: ['get', 'patch'] } },
};
const PODS = { ...NODES, namespaced: true };
const QUESTION = { namespaced: true, verbs: ['create'], subresources: {} };

const PLACES: [path: string, place: object, row: typeof NODES | typeof QUESTION, verbs: string[]][] = [
  ['nodes', {}, NODES, ['list', 'create', 'deletecollection']],
  ['nodes/n1', { name: 'n1' }, NODES, ['get', 'delete']],
  ['nodes/n1/status', { name: 'n1', subresource: 'status' }, NODES, ['get', 'patch']],
  ['nodes/n1/toString', { name: 'n1', subresource: 'toString' }, NODES, []],
  ['namespaces/a/nodes', { namespace: 'a' }, NODES, []],
  ['namespaces/a/nodes/n1/status', { namespace: 'a', name: 'n1', subresource: 'status' }, NODES, []],
  ['namespaces/a/pods', { namespace: 'a' }, PODS, ['list', 'create', 'deletecollection']],
  ['pods', {}, PODS, ['list']],
  ['pods/p', { name: 'p' }, PODS, []],
  ['pods/p/status', { name: 'p', subresource: 'status' }, PODS, []],
  ['questions', {}, QUESTION, []],
  ['namespaces/a/questions', { namespace: 'a' }, QUESTION, ['create']],
  ['namespaces/a/questions/q', { namespace: 'a', name: 'q' }, QUESTION, []],
];
for (const [path, place, row, verbs] of PLACES) {
  test(`${path} takes ${verbs.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(verbsAt(row, place), verbs);
    if (verbs.length > 0) assert.ok(hasRightScope(row, place), 'what takes a verb has the right scope');
  });
}
