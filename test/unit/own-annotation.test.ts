/** A Node's mark that its host was heard after a restore: Pods are made by it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeKind } from '../../coordinator/kinds/index.js';
import { HEARD_IN_ERA, type Node } from '../../shared/kube/node.js';

const nodeWith = (annotations: Record<string, string>): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', annotations },
  spec: {},
});

for (const verb of ['prepareForUpdate', 'prepareForStatusUpdate'] as const) {
  test(`a user neither sets nor drops it, and other annotations as they like (${verb})`, () => {
    const set = nodeWith({ [HEARD_IN_ERA]: 'mine', a: 'b' });
    nodeKind[verb]?.(set, nodeWith({}), { now: 0, user: 'jane' });
    assert.deepEqual(set.metadata.annotations, { a: 'b' });
    const dropped = nodeWith({});
    nodeKind[verb]?.(dropped, nodeWith({ [HEARD_IN_ERA]: 'e', a: 'b' }), { now: 0, user: 'jane' });
    assert.deepEqual(dropped.metadata.annotations, { [HEARD_IN_ERA]: 'e' });
  });

  test(`the hub sets it (${verb})`, () => {
    const heard = nodeWith({ [HEARD_IN_ERA]: 'e' });
    nodeKind[verb]?.(heard, nodeWith({}), { now: 0 });
    assert.deepEqual(heard.metadata.annotations, { [HEARD_IN_ERA]: 'e' });
  });
}
