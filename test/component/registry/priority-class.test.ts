/** PriorityClasses in the registry: the system classes, the one default class, and the priority of Pods. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { ensureSystemPriorityClasses } from '../../../coordinator/controllers/access/system-priority-classes.js';
import { DaemonPodTemplates } from '../../../coordinator/controllers/daemonsets/daemon-pod-templates.js';
import { podKind, priorityClassKind } from '../../../coordinator/kinds/index.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import type { PriorityClass } from '../../../shared/kube/pods/priority-class.js';
import { type ControlPlane, withControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { refusal } from '../../harness/controllers/registry-fixture.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';
import { podObject } from '../../harness/objects/object-builders.js';

const NODE_CRITICAL = { name: 'system-node-critical' };

async function create(
  { registry }: ControlPlane,
  name: string,
  value: number,
  fields: Partial<PriorityClass> = {},
) {
  return (
    await registry.create(priorityClassKind, undefined, { metadata: { name }, value, ...fields })
  ).object();
}

async function names({ registry }: ControlPlane): Promise<string[]> {
  const { records } = await registry.list(priorityClassKind);
  return records.map((record) => record.object().metadata.name).sort();
}

async function podWith(
  { registry }: ControlPlane,
  name: string,
  spec: Partial<PodSpec> = {},
): Promise<PodSpec> {
  return (await registry.create(podKind, 'default', podObject(name, spec))).object().spec;
}

describe('PriorityClasses', () => {
  withControlPlane('the system classes are created once and stay', async (plane) => {
    await ensureSystemPriorityClasses(plane.registry);
    await ensureSystemPriorityClasses(plane.registry);
    await create(plane, 'mine', 1);
    assert.deepEqual(await names(plane), ['mine', 'system-cluster-critical', 'system-node-critical']);
    const refused = await refusal(plane.registry.delete(priorityClassKind, NODE_CRITICAL));
    assert.deepEqual(
      [refused.code, refused.message],
      [
        403,
        'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
      ],
    );
    await plane.registry.deleteCollection(priorityClassKind, {});
    assert.deepEqual(await names(plane), ['system-cluster-critical', 'system-node-critical']);
  });

  withControlPlane('a second default class is refused, also by an update', async (plane) => {
    await create(plane, 'first', 1, { globalDefault: true });
    await create(plane, 'second', 2);
    const text = (name: string) =>
      `priorityclasses.scheduling.k8s.io "${name}" is forbidden: PriorityClass first is already marked as default. Only one default can exist`;
    const created = await refusal(create(plane, 'third', 3, { globalDefault: true }));
    const patched = await refusal(
      plane.registry.patch(
        priorityClassKind,
        { name: 'second' },
        { type: 'merge', body: { globalDefault: true } },
      ),
    );
    assert.deepEqual([created.code, created.message], [403, text('third')]);
    assert.deepEqual([patched.code, patched.message], [403, text('second')]);
    const own = { type: 'merge' as const, body: { description: 'the default' } };
    await plane.registry.patch(priorityClassKind, { name: 'first' }, own);
  });

  withControlPlane('a new class counts before the informers show it', async (plane) => {
    await create(plane, 'new', 7, { preemptionPolicy: 'Never' });
    const { priority, preemptionPolicy } = await podWith(plane, 'a', { priorityClassName: 'new' });
    assert.deepEqual([priority, preemptionPolicy], [7, 'Never']);
  });

  withControlPlane('an unknown class is refused with the name of the Pod', async (plane) => {
    const refused = await refusal(podWith(plane, 'a', { priorityClassName: 'none' }));
    assert.deepEqual(
      [refused.code, refused.message],
      [403, 'pods "a" is forbidden: no PriorityClass with name none was found'],
    );
  });

  withControlPlane('a Pod keeps its priority when its class is deleted or it is updated', async (plane) => {
    await create(plane, 'old', 7);
    await podWith(plane, 'a', { priorityClassName: 'old' });
    await plane.registry.delete(priorityClassKind, { name: 'old' });
    const manifest = podObject('a', { priorityClassName: 'old' });
    const ref = { namespace: 'default', name: 'a' };
    const stored = (await plane.registry.get(podKind, ref)).object();
    manifest.spec = { ...stored.spec };
    delete manifest.spec.priority;
    delete manifest.spec.preemptionPolicy;
    manifest.metadata.labels = { changed: 'yes' };
    const { spec, metadata } = (await plane.registry.update(podKind, ref, manifest)).object();
    assert.deepEqual(
      [spec.priority, spec.preemptionPolicy, metadata.labels],
      [7, 'PreemptLowerPriority', { changed: 'yes' }],
    );
  });

  withControlPlane('a template of Pods is prepared again when its class has changed', async (plane) => {
    await create(plane, 'mine', 7);
    await plane.settle();
    const templates = new DaemonPodTemplates(plane.registry, plane.informers);
    const set = daemonSet('web');
    set.spec.template.spec.priorityClassName = 'mine';
    const bound = () => {
      const pod = templates.pod(set, 'n1', 'hash');
      pod.spec.nodeName = 'n1';
      return pod;
    };
    const first = templates.templateFor(set, bound());
    assert.equal(templates.templateFor(set, bound()), first, 'the template is shared');
    assert.equal(first.render('n2').object.spec.priority, 7);
    await plane.registry.delete(priorityClassKind, { name: 'mine' });
    await plane.settle();
    assert.throws(() => templates.templateFor(set, bound()), /no PriorityClass with name mine was found/);
    await create(plane, 'mine', 8);
    await plane.settle();
    assert.equal(templates.templateFor(set, bound()).render('n2').object.spec.priority, 8);
  });
});
