/** Revisions, pauses, deadlines and failures of a Deployment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isActivePod } from '../../../coordinator/decisions/workloads/replica-pods.js';
import { deploymentKind, replicaSetKind, resourceQuotaKind } from '../../../coordinator/kinds/index.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import {
  BAD_IMAGE,
  type DeploymentFixture,
  imageOf,
  webBody,
  withDeployments,
} from '../../harness/controllers/deployment-fixture.js';

const REF = { namespace: 'default', name: 'web' };
const REVISION = 'deployment.kubernetes.io/revision';

const rule = (name: string, check: (fixture: DeploymentFixture) => Promise<void>) =>
  test(name, () => withDeployments(check));

function revisions(fixture: DeploymentFixture): string[] {
  return fixture
    .replicaSets()
    .map(({ metadata, spec }) => `${metadata.annotations?.[REVISION]} ${imageOf(spec.template)}`)
    .sort();
}

rule('Recreate starts no new Pod before the last old one is gone', async (fixture) => {
  const hold = { finalizers: ['test.example/hold'] };
  await fixture.create({ strategy: { type: 'Recreate' }, replicas: 2 }, 'web:1', hold);
  await fixture.run();
  await fixture.setImage('web:2');
  await fixture.run(5);
  assert.deepEqual(fixture.pods().map(imageOf), ['web:1', 'web:1']);
  assert.deepEqual(fixture.pods().filter(isActivePod), []);
  for (const pod of fixture.pods()) await fixture.changePod(pod, (one) => delete one.metadata.finalizers);
  await fixture.run();
  assert.deepEqual(fixture.pods().map(imageOf), ['web:2', 'web:2']);
});

rule('a paused Deployment changes no template, but is scaled; resumed, it rolls out', async (fixture) => {
  await fixture.create({ replicas: 2 });
  await fixture.run();
  await fixture.change(({ spec }) => {
    spec.paused = true;
    spec.replicas = 3;
  });
  await fixture.setImage('web:2');
  await fixture.run(8, () => false);
  assert.equal(fixture.ownPods('web:1').length, 3);
  assert.equal(fixture.replicaSets().length, 1);
  assert.equal(fixture.reason('Progressing'), 'DeploymentPaused');
  await fixture.change(({ spec }) => {
    delete spec.paused;
  });
  await fixture.run();
  assert.equal(fixture.ownPods('web:2').length, 3);
  assert.equal(fixture.reason('Progressing'), 'NewReplicaSetAvailable');
});

rule('an undo uses the old ReplicaSet again, as a new revision', async (fixture) => {
  await fixture.create();
  await fixture.run();
  await fixture.setImage('web:2');
  await fixture.run();
  assert.deepEqual(revisions(fixture), ['1 web:1', '2 web:2']);
  await fixture.setImage('web:1');
  await fixture.run();
  assert.deepEqual(revisions(fixture), ['2 web:2', '3 web:1']);
  assert.equal(fixture.deployment()?.metadata.annotations?.[REVISION], '3');
  const again = fixture.replicaSets().find(({ metadata }) => metadata.annotations?.[REVISION] === '3');
  assert.equal(again?.metadata.annotations?.['deployment.kubernetes.io/revision-history'], '1');
});

rule('a Deployment keeps revisionHistoryLimit old ReplicaSets', async (fixture) => {
  await fixture.create({ revisionHistoryLimit: 1 });
  for (const image of ['web:2', 'web:3', 'web:4']) {
    await fixture.run();
    await fixture.setImage(image);
  }
  await fixture.run();
  await fixture.run(3, () => false);
  assert.deepEqual(revisions(fixture), ['3 web:3', '4 web:4']);
});

rule('a foreign ReplicaSet with the name of the next one changes the hash', async (fixture) => {
  await fixture.create();
  await fixture.run();
  const [{ metadata } = { metadata: { name: '' } }] = fixture.replicaSets();
  await fixture.plane.registry.delete(deploymentKind, REF);
  await fixture.run(8, () => false);
  assert.deepEqual(fixture.replicaSets(), []);
  const selector = { matchLabels: { app: 'other' } };
  const template = {
    metadata: { labels: { app: 'other' } },
    spec: { containers: [{ name: 'a', image: 'a' }] },
  };
  const body = { metadata: { name: metadata.name }, spec: { replicas: 0, selector, template } };
  await fixture.plane.registry.create(replicaSetKind, 'default', body);
  await fixture.create();
  await fixture.run();
  assert.equal(fixture.deployment()?.status?.collisionCount, 1);
  assert.equal(fixture.ownPods('web:1').length, 4);
  assert.equal(fixture.replicaSets().length, 2);
});

rule(
  'a rollout that makes no progress exceeds its deadline, and keeps its available Pods',
  async (fixture) => {
    await fixture.create({ progressDeadlineSeconds: 30 });
    await fixture.run();
    fixture.watch();
    await fixture.setImage(BAD_IMAGE);
    await fixture.run(20, () => false, 2_000);
    assert.equal(fixture.reason('Progressing'), 'ProgressDeadlineExceeded');
    assert.ok(fixture.fewest >= 3 && fixture.most <= 5, `${fixture.fewest} to ${fixture.most} Pods`);
    await fixture.setImage('web:1');
    await fixture.run();
    assert.equal(fixture.reason('Progressing'), 'NewReplicaSetAvailable');
  },
);

rule('a quota that refuses Pods sets ReplicaFailure until it is raised', async (fixture) => {
  const quota = { metadata: { name: 'few' }, spec: { hard: { pods: '2' } } };
  await fixture.plane.registry.create(resourceQuotaKind, 'default', quota);
  await fixture.plane.settle();
  await fixture.create();
  await fixture.run(8, () => false);
  assert.equal(fixture.reason('ReplicaFailure'), 'FailedCreate');
  assert.ok(fixture.pods().length <= 2, `${fixture.pods().length} Pods`);
  assert.ok(fixture.events.some((event) => event.startsWith('FailedCreate Error creating: ')));
  await fixture.plane.registry.delete(resourceQuotaKind, { namespace: 'default', name: 'few' });
  await fixture.run(60, () => fixture.isDone(), 5_000);
  assert.ok(fixture.isDone());
  assert.equal(fixture.reason('ReplicaFailure'), undefined);
});

rule('a deleted ReplicaSet is created again', async (fixture) => {
  await fixture.create();
  await fixture.run();
  await fixture.deleteReplicaSet(fixture.replicaSets()[0]?.metadata.name ?? '');
  await fixture.run();
  assert.equal(fixture.ownPods('web:1').length, 4);
});

for (const propagationPolicy of ['Background', 'Foreground', 'Orphan'] as const) {
  rule(`${propagationPolicy} deletion of a Deployment`, async (fixture) => {
    await fixture.create();
    await fixture.run();
    await fixture.plane.registry.delete(deploymentKind, REF, { propagationPolicy });
    await fixture.run(8, () => false);
    assert.equal(fixture.deployment(), undefined);
    if (propagationPolicy !== 'Orphan') {
      assert.deepEqual([fixture.replicaSets(), fixture.pods()], [[], []]);
      return;
    }
    const [orphan] = fixture.replicaSets();
    assert.equal(orphan && controllerOf(orphan.metadata), undefined);
    const uids = fixture.pods().map(({ metadata }) => metadata.uid);
    assert.equal(uids.length, 4);
    await fixture.plane.registry.create(deploymentKind, 'default', webBody());
    await fixture.run();
    const adopted = fixture.replicaSets();
    assert.deepEqual(
      [adopted.length, adopted[0] && controllerOf(adopted[0].metadata)?.kind],
      [1, 'Deployment'],
    );
    assert.deepEqual(
      fixture.pods().map(({ metadata }) => metadata.uid),
      uids,
      'the Pods are the same',
    );
  });
}
