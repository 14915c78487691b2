/** Events are stored in batches that yield to other work, and a failing store is retried. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventKind } from '../../../coordinator/kinds/index.js';
import { StoreError } from '../../../coordinator/store/store-error.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { type ControlPlane, startControlPlane } from '../../harness/controllers/control-plane-fixture.js';

const podOf = (index: number, namespace = 'default'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `p${index}`, namespace, uid: `uid-${index}` },
  spec: { containers: [] },
});

function withPlane(rule: string, check: (plane: ControlPlane) => Promise<void>): void {
  test(rule, async () => {
    const plane = await startControlPlane();
    try {
      await check(plane);
    } finally {
      await plane.stop();
    }
  });
}

async function written(plane: ControlPlane): Promise<number> {
  return (await plane.registry.list(eventKind)).records.length;
}

withPlane('of many Events a batch is written at once, and each next batch after a pause', async (plane) => {
  const tell = plane.events.forComponent('kubelet');
  for (let index = 0; index < 600; index++) tell(podOf(index), 'Normal', 'Started', 'Started container c');
  await plane.settle();
  assert.equal(await written(plane), 250);
  await plane.advance(49);
  assert.equal(await written(plane), 250);
  await plane.advance(1);
  assert.equal(await written(plane), 500);
  await plane.advance(50);
  assert.equal(await written(plane), 600);
});

withPlane(
  'after sixteen Events of a burst the next wait as well, after fifteen they do not',
  async (plane) => {
    const tell = plane.events.forComponent('kubelet');
    const tellOf = (first: number, count: number) => {
      for (let index = first; index < first + count; index++)
        tell(podOf(index), 'Normal', 'Started', 'Started container c');
      return plane.settle();
    };
    await tellOf(0, 15);
    await tellOf(15, 16);
    assert.equal(await written(plane), 31);
    await tellOf(31, 1);
    assert.equal(await written(plane), 31);
    await plane.advance(50);
    assert.equal(await written(plane), 32);
  },
);

withPlane('a few Events are written at once, and counted up while they wait', async (plane) => {
  const tell = plane.events.forComponent('kubelet');
  tell(podOf(1), 'Normal', 'Started', 'Started container c');
  tell(podOf(1), 'Normal', 'Started', 'Started container c');
  await plane.settle();
  tell(podOf(1), 'Normal', 'Started', 'Started container c');
  await plane.settle();
  const { records } = await plane.registry.list(eventKind);
  assert.deepEqual(
    records.map((record) => record.object().count),
    [3],
  );
});

withPlane('a write that the store could not perform is retried, a rejected one is not', async (plane) => {
  const tell = plane.events.forComponent('kubelet');
  const { store } = plane;
  const create = store.createAll.bind(store);
  store.createAll = async (values) => values.map(() => new StoreError('full', 'no space'));
  tell(podOf(1), 'Normal', 'Started', 'Started container c');
  tell(podOf(2, 'missing'), 'Normal', 'Started', 'Started container c');
  await plane.settle();
  assert.equal(await written(plane), 0);
  store.createAll = create;
  await plane.advance(1_000);
  assert.equal(await written(plane), 1);
  assert.deepEqual(await plane.eventsAbout('p2'), []);
});
