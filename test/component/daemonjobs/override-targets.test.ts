/** Which Nodes an override of update locks may name, over a memory store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonJobKind, nodeKind } from '../../../coordinator/kinds/index.js';
import { refusal, testRegistry } from '../../harness/controllers/registry-fixture.js';

const OVERRIDE = 'fleet.everynode.dev/override-locks';
const REASON = 'fleet.everynode.dev/reason';
const REF = { namespace: 'default', name: 'work' };

/** Returns a job's registry, a patch of its annotations as a user, and the number of lists of all Nodes so far. */
async function fixture() {
  const { registry, store } = await testRegistry();
  for (const name of ['a', 'b'])
    await registry.create(nodeKind, undefined, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  await registry.create(daemonJobKind, 'default', {
    apiVersion: 'fleet.everynode.dev/v1',
    kind: 'DaemonJob',
    metadata: { name: 'work' },
    spec: { template: { spec: { containers: [{ name: 'work', image: 'work:1' }] } } },
  });
  let lists = 0;
  const list = store.list.bind(store);
  store.list = (prefix, options) => {
    if (prefix.includes('/nodes/')) lists += 1;
    return list(prefix, options);
  };
  const annotate = (annotations: Record<string, string>) =>
    registry.patch(
      daemonJobKind,
      REF,
      { type: 'merge', body: { metadata: { annotations } } },
      { user: 'ann' },
    );
  return { registry, annotate, lists: () => lists };
}

test('a write that names no new host does not list the Nodes', async () => {
  const { annotate, lists } = await fixture();
  await annotate({ note: 'x' });
  assert.equal(lists(), 0);
  await annotate({ [OVERRIDE]: 'a', [REASON]: 'recall' });
  assert.equal(lists(), 1);
  await annotate({ note: 'y' });
  assert.equal(lists(), 1);
});

test('an unknown host is refused, and a known host is accepted after the Node of an earlier one is deleted', async () => {
  const { registry, annotate } = await fixture();
  const error = await refusal(annotate({ [OVERRIDE]: 'a,nowhere', [REASON]: 'recall' }));
  assert.match(error.message, /override-locks\]: Not found: "nowhere"/);
  await annotate({ [OVERRIDE]: 'a', [REASON]: 'recall' });
  await registry.delete(nodeKind, { name: 'a' });
  await annotate({ [OVERRIDE]: 'a,b', [REASON]: 'recall' });
  const { metadata } = (await registry.get(daemonJobKind, REF)).object();
  assert.equal(metadata.annotations?.[OVERRIDE], 'a,b');
});
