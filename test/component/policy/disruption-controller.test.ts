/** Evictions within PodDisruptionBudgets: controller, eviction verb, and what happens between them. */
import assert from 'node:assert/strict';
import { DisruptionController } from '../../../coordinator/controllers/policy/disruption-controller.js';
import { daemonSetKind, podDisruptionBudgetKind, podKind } from '../../../coordinator/kinds/index.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { type ControlPlane, withControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';
import { podObject } from '../../harness/objects/object-builders.js';

const REF = { namespace: 'default', name: 'web' };

function start(plane: ControlPlane): DisruptionController {
  return new DisruptionController({
    ...plane,
    recordEvent: plane.events.forComponent('controllermanager'),
  });
}

async function budget(plane: ControlPlane, spec: object): Promise<void> {
  const body = { metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, ...spec } };
  await plane.registry.create(podDisruptionBudgetKind, 'default', body);
  await plane.advance(100);
}

async function readyPod(plane: ControlPlane, name: string, metadata: object = {}): Promise<void> {
  const object = podObject(name, { containers: [{ name: 'main', image: 'app:1' }], nodeName: 'n1' });
  object.metadata = { name, labels: { app: 'web' }, ...metadata };
  await plane.registry.create(podKind, 'default', object);
  await plane.registry.writeStatus(podKind, { namespace: 'default', name }, () => ({
    phase: 'Running' as const,
    conditions: [{ type: 'Ready', status: 'True' as const }],
  }));
}

const statusOf = async (plane: ControlPlane) =>
  (await plane.registry.get(podDisruptionBudgetKind, REF)).object().status;

const evict = (plane: ControlPlane, name: string, options = {}) =>
  plane.registry.evict({ namespace: 'default', name }, options);

function refused(code: number, text: RegExp) {
  return (error: unknown) =>
    error instanceof ApiError &&
    error.code === code &&
    text.test(`${error.message} ${error.details?.causes?.[0]?.message}`);
}

/** Runs `check` with the controller and three ready Pods. */
function withBudget(
  rule: string,
  spec: object,
  check: (plane: ControlPlane, controller: ReturnType<typeof start>) => Promise<void>,
): void {
  withControlPlane(rule, async (plane) => {
    const controller = start(plane);
    try {
      for (const name of ['a', 'b', 'c']) await readyPod(plane, name);
      await budget(plane, spec);
      await check(plane, controller);
    } finally {
      await controller.stop();
    }
  });
}

withBudget(
  'a budget allows as many evictions as its status says, and no more',
  { minAvailable: 2 },
  async (plane) => {
    assert.equal((await statusOf(plane))?.disruptionsAllowed, 1);
    await evict(plane, 'a', { dryRun: true });
    assert.equal((await statusOf(plane))?.disruptionsAllowed, 1, 'a dry run spends nothing');
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((name) => evict(plane, name)));
    assert.equal(
      outcomes.filter(({ status }) => status === 'fulfilled').length,
      1,
      'one of three concurrent ones',
    );
    await plane.advance(100);
    const status = await statusOf(plane);
    assert.deepEqual([status?.disruptionsAllowed, status?.currentHealthy, status?.expectedPods], [0, 2, 3]);
    await assert.rejects(evict(plane, 'c'), refused(429, /needs 2 healthy pods and has 2 currently/));
  },
);

withBudget('a new Pod allows the next eviction', { minAvailable: 3 }, async (plane) => {
  await assert.rejects(evict(plane, 'a'), refused(429, /violate the pod's disruption budget/));
  await readyPod(plane, 'd');
  await plane.advance(100);
  assert.equal((await evict(plane, 'a')).status, 'Success');
});

withBudget(
  'an eviction before the controller has seen a changed budget is refused',
  { minAvailable: 1 },
  async (plane, controller) => {
    await controller.stop();
    await plane.registry.modify(podDisruptionBudgetKind, REF, (stored) => {
      stored.spec = { ...stored.spec, minAvailable: 3 };
      return undefined;
    });
    await assert.rejects(evict(plane, 'a'), refused(429, /is still being processed by the server/));
    const restarted = start(plane);
    try {
      await plane.advance(100);
      await assert.rejects(evict(plane, 'a'), refused(429, /needs 3 healthy pods and has 3 currently/));
    } finally {
      await restarted.stop();
    }
  },
);

withBudget('another selector counts other Pods', { minAvailable: 1 }, async (plane) => {
  await plane.registry.modify(podDisruptionBudgetKind, REF, (stored) => {
    stored.spec = { minAvailable: 0, selector: { matchLabels: { app: 'db' } } };
    return undefined;
  });
  await plane.advance(100);
  assert.equal((await statusOf(plane))?.expectedPods, 0);
  assert.equal((await evict(plane, 'a')).status, 'Success', 'no budget covers it any longer');
});

withBudget(
  'Pods without a controller do not count for maxUnavailable',
  { maxUnavailable: 1 },
  async (plane) => {
    const status = await statusOf(plane);
    assert.deepEqual([status?.expectedPods, status?.disruptionsAllowed], [0, 0]);
    await plane.advance(1_000);
    assert.ok((await plane.eventsAbout('web')).some((text) => text.startsWith('UnmanagedPods: ')));
  },
);

withControlPlane(
  'Pods of a DaemonSet have no scale, so only an integer minAvailable allows evictions',
  async (plane) => {
    const controller = start(plane);
    try {
      const stored = await plane.registry.create(daemonSetKind, 'default', daemonSet('web'));
      const { metadata } = stored.object();
      const owner = {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        name: 'web',
        uid: metadata.uid,
        controller: true,
      };
      await readyPod(plane, 'a', { ownerReferences: [owner] });
      await budget(plane, { maxUnavailable: 1 });
      const failed = (await statusOf(plane))?.conditions?.[0];
      const why = 'daemonsets.apps does not implement the scale subresource';
      assert.deepEqual([failed?.reason, failed?.message], ['SyncFailed', why]);
      await plane.advance(1_000);
      assert.ok((await plane.eventsAbout('web')).some((text) => text.endsWith(why)));
      await plane.registry.modify(podDisruptionBudgetKind, REF, (one) => {
        one.spec = { minAvailable: 0, ...(one.spec?.selector ? { selector: one.spec.selector } : {}) };
        return undefined;
      });
      await plane.advance(100);
      assert.equal((await statusOf(plane))?.disruptionsAllowed, 1);
    } finally {
      await controller.stop();
    }
  },
);

withBudget(
  'an evicted Pod that its finalizer keeps does not count twice',
  { minAvailable: 1 },
  async (plane) => {
    await readyPod(plane, 'kept', { finalizers: ['example.com/keep'] });
    await plane.advance(100);
    await evict(plane, 'kept');
    await plane.advance(100);
    const status = await statusOf(plane);
    assert.deepEqual([status?.disruptedPods, status?.currentHealthy], [undefined, 3]);
  },
);
