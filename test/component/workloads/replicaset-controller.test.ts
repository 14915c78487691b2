/** Adoption, release and scale down of a ReplicaSet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isActivePod } from '../../../coordinator/decisions/workloads/replica-pods.js';
import { podKind, replicaSetKind } from '../../../coordinator/kinds/index.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import {
  type DeploymentFixture,
  webBody,
  withDeployments,
} from '../../harness/controllers/deployment-fixture.js';
import { podObject } from '../../harness/objects/object-builders.js';

const REF = { namespace: 'default', name: 'web' };

function rule(name: string, spec: object, check: (fixture: DeploymentFixture) => Promise<void>): void {
  test(name, () =>
    withDeployments(async (fixture) => {
      await fixture.plane.registry.create(replicaSetKind, 'default', webBody(spec));
      await fixture.run(8, () => false);
      await check(fixture);
    }),
  );
}

const alive = (fixture: DeploymentFixture) =>
  fixture
    .pods()
    .filter(isActivePod)
    .map(({ metadata }) => metadata.name);

test('a matching orphan is adopted instead of a new Pod', () =>
  withDeployments(async (fixture) => {
    const orphan = podObject('alone', {}, { labels: { app: 'web' } });
    await fixture.plane.registry.create(podKind, 'default', orphan);
    await fixture.plane.registry.create(replicaSetKind, 'default', webBody({ replicas: 2 }));
    await fixture.run(8, () => false);
    const adopted = fixture.plane.informers.pods.get({ namespace: 'default', name: 'alone' });
    assert.equal(adopted && controllerOf(adopted.metadata)?.name, 'web');
    assert.equal(alive(fixture).length, 2);
    const created = [...fixture.plane.informers.pods.list()].length;
    assert.equal(created, 2, 'the adopted Pod counts at once, so no third Pod is created and deleted');
  }));

rule('a Pod whose labels change is released and replaced', { replicas: 2 }, async (fixture) => {
  const [pod] = fixture.pods();
  assert.ok(pod);
  await fixture.changePod(pod, ({ metadata }) => {
    metadata.labels = { app: 'debug' };
  });
  await fixture.run(3, () => false);
  const released = fixture.plane.informers.pods.get({ namespace: 'default', name: pod.metadata.name });
  assert.equal(released && controllerOf(released.metadata), undefined);
  assert.equal(alive(fixture).length, 3);
});

rule('a scale down deletes first what costs least', { replicas: 3 }, async (fixture) => {
  const [cheap, unready, last] = fixture.pods();
  assert.ok(cheap && unready && last);
  await fixture.changePod(cheap, ({ metadata }) => {
    metadata.annotations = { 'controller.kubernetes.io/pod-deletion-cost': '-5' };
  });
  await fixture.setReady(unready, 'False');
  await resize(fixture, 2);
  assert.deepEqual(alive(fixture).sort(), [cheap.metadata.name, last.metadata.name].sort());
  await resize(fixture, 1);
  assert.deepEqual(alive(fixture), [last.metadata.name]);
});

/** Without a round of the simulated agent, which would make the unready Pod ready. */
async function resize(fixture: DeploymentFixture, replicas: number): Promise<void> {
  await fixture.plane.registry.modify(replicaSetKind, REF, (stored) => {
    stored.spec.replicas = replicas;
    return undefined;
  });
  await fixture.plane.settle();
}

rule('minReadySeconds delays availability', { replicas: 1, minReadySeconds: 60 }, async (fixture) => {
  const status = () => fixture.plane.informers.replicaSets.get(REF)?.status;
  assert.equal(status()?.readyReplicas, 1);
  assert.equal(status()?.availableReplicas, undefined);
  await fixture.plane.advance(60_000);
  assert.equal(status()?.availableReplicas, 1);
});
