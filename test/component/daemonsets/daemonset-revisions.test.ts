/** The revisions of a DaemonSet over the real registry and informers: creation, numbering, clean-up, and conflicts. */
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { controllerRevisionKind, daemonSetKind } from '../../../coordinator/kinds/index.js';
import { REVISION_HASH_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';

const DEFAULT = 'default';

let fleet: DaemonFleet;

async function start(...nodes: string[]): Promise<void> {
  fleet = await DaemonFleet.start(nodes);
}

afterEach(() => fleet.stop());

test('a rollback keeps the revision’s name and raises its number', async () => {
  await start('n0');
  await fleet.create('web');
  await fleet.rolledOut('web');
  const [first] = fleet.revisions();
  await fleet.setImage('web', 'app:2');
  await fleet.rolledOut('web');
  assert.deepEqual(
    fleet.revisions().map(({ revision }) => revision),
    [1, 2],
  );
  await fleet.setImage('web', 'app:1');
  await fleet.rolledOut('web');
  await until(() => fleet.revisions().at(-1)?.revision === 3);
  assert.equal(fleet.revisions().at(-1)?.metadata.name, first?.metadata.name);
});

test('old revisions beyond the limit are deleted', async () => {
  await start('n0');
  await fleet.create('web', { revisionHistoryLimit: 1 });
  for (const image of ['app:2', 'app:3', 'app:4']) {
    await fleet.rolledOut('web');
    await fleet.setImage('web', image);
  }
  await fleet.rolledOut('web');
  await until(
    () =>
      fleet
        .revisions()
        .map(({ revision }) => revision)
        .join() === '3,4',
  );
});

test('of two revisions with the same template the higher is kept, and Pods take its hash', async () => {
  await start('n0', 'n1');
  await fleet.create('web');
  await fleet.rolledOut('web');
  const [first] = fleet.revisions();
  const uids = fleet.pods().map((pod) => pod.metadata.uid);
  const { ownerReferences = [], labels } = first?.metadata ?? {};
  await fleet.registry.create(controllerRevisionKind, DEFAULT, {
    metadata: { name: 'web-copy', labels: { ...labels, [REVISION_HASH_LABEL]: 'copy' }, ownerReferences },
    data: first?.data,
    revision: 5,
  });
  await until(
    () =>
      fleet
        .revisions()
        .map(({ metadata }) => metadata.name)
        .join() === 'web-copy',
  );
  assert.deepEqual(fleet.hashesOfPods(), new Set(['copy']));
  await fleet.rolledOut('web');
  assert.deepEqual(
    fleet.pods().map((pod) => pod.metadata.uid),
    uids,
  );
});

test('a name that other data uses raises collisionCount and is avoided', async () => {
  await start('n0');
  await fleet.create('web');
  await fleet.rolledOut('web');
  const [first] = fleet.revisions();
  assert.ok(first);
  await fleet.registry.delete(daemonSetKind, { namespace: DEFAULT, name: 'web' });
  await until(() => fleet.status('web') === undefined);
  const ref = { namespace: DEFAULT, name: first.metadata.name };
  await fleet.registry.delete(controllerRevisionKind, ref);
  const squatter = { metadata: { name: first.metadata.name }, data: { other: true }, revision: 7 };
  await fleet.registry.create(controllerRevisionKind, DEFAULT, squatter);
  for (const pod of fleet.pods()) await fleet.delete(pod);
  await until(() => fleet.pods().length === 0);
  await fleet.create('web');
  await until(() => fleet.status('web')?.collisionCount === 1);
  fleet.clock.advance(1_000);
  await fleet.rolledOut('web');
  assert.equal(fleet.revisions().length, 2);
});
