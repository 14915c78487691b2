/** ResourceQuotas and LimitRanges through the registry: charges, races, usage after deletes, templates. */
import assert from 'node:assert/strict';
import { QuotaController } from '../../../coordinator/controllers/policy/quota-controller.js';
import {
  configMapKind,
  limitRangeKind,
  podKind,
  resourceQuotaKind,
  serviceKind,
} from '../../../coordinator/kinds/index.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { type ControlPlane, withControlPlane } from '../../harness/controllers/control-plane-fixture.js';

const inDefault = (name: string) => ({ namespace: 'default', name });
const REQUESTS = { requests: { cpu: '100m' } };

function podBody(name: string, resources: object = REQUESTS): object {
  return { metadata: { name }, spec: { containers: [{ name: 'c', image: 'app:1', resources }] } };
}

const createPod = (plane: ControlPlane, name: string, resources?: object, options = {}) =>
  plane.registry.create<Pod>(podKind, 'default', podBody(name, resources), options);

/** Lets the informers see all writes, and the controller write the status. */
async function reconciled(plane: ControlPlane): Promise<void> {
  await plane.settle();
  await plane.advance(200);
}

async function quota(plane: ControlPlane, hard: object, name = 'q'): Promise<void> {
  await plane.registry.create(resourceQuotaKind, 'default', { metadata: { name }, spec: { hard } });
  await reconciled(plane);
}

const used = async (plane: ControlPlane, name = 'q') =>
  (await plane.registry.get(resourceQuotaKind, inDefault(name))).object().status?.used;

function forbidden(text: string) {
  return (error: unknown) => error instanceof ApiError && error.code === 403 && error.message === text;
}

function withQuotas(rule: string, check: (plane: ControlPlane) => Promise<void>): void {
  withControlPlane(rule, async (plane) => {
    const controller = new QuotaController(plane);
    try {
      await check(plane);
    } finally {
      await controller.stop();
    }
  });
}

withQuotas('of many concurrent creates, a quota admits exactly what is left', async (plane) => {
  await createPod(plane, 'first');
  await quota(plane, { pods: '4' });
  assert.deepEqual(await used(plane), { pods: '1' });
  const names = Array.from({ length: 20 }, (_, i) => `p${i}`);
  const outcomes = await Promise.allSettled(names.map((name) => createPod(plane, name)));
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? one.reason : []));
  assert.equal(refused.length, 17);
  assert.match(
    refused[0].message,
    /is forbidden: exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=4$/,
  );
  await reconciled(plane);
  assert.deepEqual(await used(plane), { pods: '4' });
});

withQuotas(
  'usage falls with a deletion and with the end of a Pod, and the next create is admitted',
  async (plane) => {
    await quota(plane, { pods: '1', 'count/pods': '2' });
    await createPod(plane, 'a');
    const refusal =
      'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1';
    await assert.rejects(createPod(plane, 'b'), forbidden(refusal));
    await plane.registry.writeStatus(podKind, inDefault('a'), () => ({ phase: 'Succeeded' as const }));
    await reconciled(plane);
    assert.deepEqual(await used(plane), { pods: '0', 'count/pods': '1' });
    await createPod(plane, 'b');
    await plane.registry.delete(podKind, inDefault('a'));
    await plane.registry.delete(podKind, inDefault('b'), { gracePeriodSeconds: 0 });
    await reconciled(plane);
    assert.deepEqual(await used(plane), { pods: '0', 'count/pods': '0' });
  },
);

withQuotas('a dry run is checked and charges nothing, and so does a write that fails', async (plane) => {
  await quota(plane, { configmaps: '1', 'count/configmaps': '1' });
  const create = (name: string, options = {}) =>
    plane.registry.create(configMapKind, 'default', { metadata: { name } }, options);
  await create('a', { dryRun: true });
  await create('a');
  await assert.rejects(create('a'), /exceeded quota/);
  await assert.rejects(
    create('b', { dryRun: true }),
    /exceeded quota: q, requested: configmaps=1,count\/configmaps=1/,
  );
  await plane.registry.delete(configMapKind, inDefault('a'));
  await plane.settle();
  await create('c');
});

withQuotas(
  'every quota of the namespace must admit, and those of other namespaces do not count',
  async (plane) => {
    await quota(plane, { pods: '9' }, 'wide');
    await quota(plane, { 'requests.cpu': '150m' }, 'tight');
    await createPod(plane, 'a');
    await assert.rejects(
      createPod(plane, 'b'),
      forbidden(
        'pods "b" is forbidden: exceeded quota: tight, requested: requests.cpu=100m, used: requests.cpu=100m, limited: requests.cpu=150m',
      ),
    );
    await reconciled(plane);
    assert.deepEqual(
      [await used(plane, 'wide'), await used(plane, 'tight')],
      [{ pods: '1' }, { 'requests.cpu': '100m' }],
    );
    await assert.rejects(
      createPod(plane, 'c', {}),
      forbidden('pods "c" is forbidden: failed quota: tight: must specify requests.cpu for: c'),
    );
  },
);

withQuotas('a quota counts itself once, and is recounted when its limits change', async (plane) => {
  await quota(plane, { resourcequotas: '2' });
  assert.deepEqual(await used(plane), { resourcequotas: '1' });
  await quota(plane, { pods: '1' }, 'second');
  await createPod(plane, 'a');
  await plane.registry.modify(resourceQuotaKind, inDefault('q'), (stored) => {
    stored.spec = { hard: { pods: '5', resourcequotas: '2' } };
    return undefined;
  });
  await reconciled(plane);
  assert.deepEqual(await used(plane), { pods: '1', resourcequotas: '2' });
});

withQuotas('a Service that becomes a NodePort is charged for its ports', async (plane) => {
  await quota(plane, { 'services.nodeports': '1' });
  const spec = {
    selector: { a: 'b' },
    ports: [
      { name: 'a', port: 1 },
      { name: 'b', port: 2 },
    ],
  };
  await plane.registry.create(serviceKind, 'default', { metadata: { name: 's' }, spec });
  const become = (count: number) =>
    plane.registry.modify(serviceKind, inDefault('s'), (service) => {
      service.spec = { ...service.spec, type: 'NodePort', ports: spec.ports.slice(0, count) };
      return undefined;
    });
  await assert.rejects(
    become(2),
    /services "s" is forbidden: exceeded quota: q, requested: services.nodeports=2/,
  );
  await become(1);
  await reconciled(plane);
  assert.deepEqual(await used(plane), { 'services.nodeports': '1' });
});

withQuotas(
  'a LimitRange sets what a Pod lacks, refuses what it forbids, and precedes quotas',
  async (plane) => {
    const limits = [{ type: 'Container', max: { memory: '64Mi' }, defaultRequest: { cpu: '50m' } }];
    await plane.registry.create(limitRangeKind, 'default', { metadata: { name: 'l' }, spec: { limits } });
    await quota(plane, { 'requests.cpu': '1', 'requests.memory': '128Mi' });
    const { spec, metadata } = (await createPod(plane, 'a', {})).object();
    assert.deepEqual(spec.containers[0]?.resources, {
      limits: { memory: '64Mi' },
      requests: { cpu: '50m', memory: '64Mi' },
    });
    assert.match(metadata.annotations?.['kubernetes.io/limit-ranger'] ?? '', /^LimitRanger plugin set: /);
    await reconciled(plane);
    assert.deepEqual(await used(plane), { 'requests.cpu': '50m', 'requests.memory': '64Mi' });
    await assert.rejects(
      createPod(plane, 'b', { limits: { memory: '65Mi' } }),
      forbidden('pods "b" is forbidden: maximum memory usage per Container is 64Mi, but limit is 65Mi'),
    );
  },
);

withQuotas(
  'Pods of a template are charged, and a changed LimitRange outdates the template',
  async (plane) => {
    await quota(plane, { pods: '1' });
    const body = podBody('', {}) as Pod;
    body.metadata = { name: '', generateName: 'web-' };
    const source = { body, customize: (model: Pod) => model, text: 'n1' };
    const template = plane.registry.prepareTemplate(podKind, 'default', source);
    await plane.registry.createFromTemplate(template, 'n1');
    await assert.rejects(
      plane.registry.createFromTemplate(template, 'n1'),
      /exceeded quota: q, requested: pods=1/,
    );
    assert.equal(template.isCurrent(), true);
    const limits = [{ type: 'Container', default: { cpu: '1' } }];
    await plane.registry.create(limitRangeKind, 'default', { metadata: { name: 'l' }, spec: { limits } });
    await plane.settle();
    assert.equal(template.isCurrent(), false);
  },
);
