/** Whether a hello creates a Node: not if an operator deleted the Node while the agent process ran. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ensureNode, type RegistrationDeps } from '../../../coordinator/hub/reports/ensure-node.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Hello } from '../../../shared/link/messages/link-messages.js';

const EPOCH = 'epoch-1';

/** Returns the Node that `ensureNode` returns where none is stored, and the calls that led to it. */
async function ensured(fields: Partial<Hello>) {
  const calls: string[] = [];
  const deps = {
    registry: {
      get: () => Promise.reject(new ApiError('NotFound', 'nodes "n" not found')),
      create: async (_kind: unknown, _namespace: unknown, node: Node) => {
        calls.push(`create ${node.metadata.name}`);
        return { revision: 7, object: () => ({ ...node, metadata: { ...node.metadata, uid: 'u-1' } }) };
      },
    },
    informers: {
      nodes: { get: () => undefined },
      waitFor: async (revision: number) => calls.push(`wait for ${revision}`),
    },
    clock: { now: () => 0 },
    rightsOf: async () => ({ labels: {}, anyLabels: false }),
    epoch: EPOCH,
  } as unknown as RegistrationDeps;
  const hello = { node: 'n', register: { labels: {}, taints: [] }, status: {}, ...fields } as Hello;
  return { uid: (await ensureNode(deps, hello))?.metadata.uid, calls };
}

const CREATED = { uid: 'u-1', calls: ['create n', 'wait for 7'] };
const CASES: [
  rule: string,
  hello: Partial<Hello>,
  expected: typeof CREATED | { uid: undefined; calls: [] },
][] = [
  ['a first hello creates the Node, and returns it once the informers show it', {}, CREATED],
  ['a restarted agent creates a deleted Node again', { epoch: EPOCH }, CREATED],
  [
    'a running agent does not create a deleted Node again',
    { epoch: EPOCH, nodeUid: 'u-0' },
    { uid: undefined, calls: [] },
  ],
  [
    'after a restore, a running agent creates its missing Node',
    { epoch: 'epoch-0', nodeUid: 'u-0' },
    CREATED,
  ],
];

for (const [rule, hello, expected] of CASES)
  test(rule, async () => assert.deepEqual(await ensured(hello), expected));
