/** Validation of DaemonSetOverrides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSetOverrideKind } from '../../../coordinator/kinds/index.js';
import type { DaemonSetOverride } from '../../../shared/kube/daemonsets/daemonset-override-types.js';

const till = (change: object) => ({ daemonSetName: 'till', containers: [{ name: 'till', ...change }] });
const volumes = (...list: object[]) => ({ daemonSetName: 'till', volumes: list });

for (const [what, spec, errors] of [
  ['an image', till({ image: 'app:$(TAG)' }), []],
  ['a volume', volumes({ name: 'data', hostPath: { path: '/srv' } }), []],
  ['no spec', undefined, ['spec']],
  ['no DaemonSet', { ...till({ image: 'x' }), daemonSetName: '' }, ['spec.daemonSetName']],
  ['no changes', { daemonSetName: 'till' }, ['spec.containers']],
  ['a container without changes', till({}), ['spec.containers[0]']],
  ['an empty image', till({ image: '' }), ['spec.containers[0].image']],
  ['a padded image', till({ image: ' x' }), ['spec.containers[0].image']],
  ['a container without a name', { ...till({}), containers: [{ image: 'x' }] }, ['spec.containers[0].name']],
  [
    'one container twice',
    {
      ...till({}),
      containers: [
        { name: 'a', image: 'x' },
        { name: 'a', image: 'y' },
      ],
    },
    ['spec.containers[1].name'],
  ],
  ['one variable twice', till({ env: [{ name: 'A' }, { name: 'A' }] }), ['spec.containers[0].env[1].name']],
  [
    'a limit below the request',
    till({ resources: { limits: { memory: '1Mi' }, requests: { memory: '2Mi' } } }),
    ['spec.containers[0].resources.requests'],
  ],
  [
    'an unknown resource',
    till({ resources: { limits: { ram: '1Mi' } } }),
    ['spec.containers[0].resources.limits[ram]'],
  ],
  ['a volume without a source', volumes({ name: 'data' }), ['spec.volumes[0]']],
  [
    'one volume twice',
    volumes({ name: 'data', emptyDir: {} }, { name: 'data', emptyDir: {} }),
    ['spec.volumes[1].name'],
  ],
  ['a fraction as priority', { ...till({ image: 'x' }), priority: 0.5 }, ['spec.priority']],
  [
    'a selector without a meaning',
    { ...till({ image: 'x' }), nodeSelector: { matchExpressions: [{ key: 'a', operator: 'Maybe' }] } },
    ['spec.nodeSelector.matchExpressions[0].operator'],
  ],
] as const) {
  test(`an override with ${what} has ${errors.length === 0 ? 'no error' : 'an error at the field'}`, () => {
    const object = { metadata: { name: 'o' }, spec } as unknown as DaemonSetOverride;
    daemonSetOverrideKind.setDefaults(object);
    assert.deepEqual(
      daemonSetOverrideKind.validate(object).map(({ field }) => field),
      errors,
    );
  });
}

test('defaults are those of a template, so that an override may repeat it', () => {
  const fieldRef = { fieldPath: 'spec.nodeName' };
  const object = {
    metadata: { name: 'o' },
    spec: {
      ...till({ env: [{ name: 'NODE', valueFrom: { fieldRef } }] }),
      volumes: [{ name: 'config', configMap: { name: 'c' } }],
    },
  } as unknown as DaemonSetOverride;
  daemonSetOverrideKind.setDefaults(object);
  assert.deepEqual(object.spec.volumes, [{ name: 'config', configMap: { name: 'c', defaultMode: 420 } }]);
  assert.deepEqual(object.spec.containers?.[0]?.env?.[0]?.valueFrom?.fieldRef, {
    apiVersion: 'v1',
    fieldPath: 'spec.nodeName',
  });
});
