/** The Node annotation for a resynced host. Users cannot set it, because controllers create Pods by it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import { type Node, RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';

const nodeWith = (annotations: Record<string, string>): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', annotations },
  spec: {},
});

for (const verb of ['prepareForUpdate', 'prepareForStatusUpdate'] as const) {
  test(`a user can neither set nor remove it, and can change other annotations (${verb})`, () => {
    const set = nodeWith({ [RESYNCED_IN_EPOCH]: 'mine', a: 'b' });
    nodeKind[verb]?.(set, nodeWith({}), { now: 0, user: 'jane' });
    assert.deepEqual(set.metadata.annotations, { a: 'b' });
    const dropped = nodeWith({});
    nodeKind[verb]?.(dropped, nodeWith({ [RESYNCED_IN_EPOCH]: 'e', a: 'b' }), { now: 0, user: 'jane' });
    assert.deepEqual(dropped.metadata.annotations, { [RESYNCED_IN_EPOCH]: 'e' });
  });

  test(`the hub sets it (${verb})`, () => {
    const heard = nodeWith({ [RESYNCED_IN_EPOCH]: 'e' });
    nodeKind[verb]?.(heard, nodeWith({}), { now: 0 });
    assert.deepEqual(heard.metadata.annotations, { [RESYNCED_IN_EPOCH]: 'e' });
  });
}
