/** Overrides merged into a template, as tables. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { overriddenTemplate } from '../../../coordinator/decisions/overrides/overridden-template.js';
import { overrideFields } from '../../../coordinator/decisions/overrides/override-fields.js';
import { resolveOverrides } from '../../../coordinator/decisions/overrides/override-resolution.js';
import {
  type DaemonSetOverrideSpec,
  OVERRIDES_ANNOTATION,
} from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';

type Changes = Omit<DaemonSetOverrideSpec, 'daemonSetName'>;

const MEMORY_VALUE = 'resources.fleet.everynode.dev/till.requests.memory';
const TEMPLATE: PodTemplateSpec = {
  metadata: { labels: { app: 'till' }, annotations: { [MEMORY_VALUE]: 'memory' } },
  spec: {
    initContainers: [{ name: 'init', image: 'init:1' }],
    containers: [
      {
        name: 'till',
        image: 'till:1',
        resources: { limits: { memory: '1Gi', cpu: '1' }, requests: { memory: '64Mi' } },
        env: [
          { name: 'A', value: 'a' },
          { name: 'B', value: '$(A)' },
        ],
      },
    ],
    volumes: [
      { name: 'data', hostPath: { path: '/srv', type: '' } },
      { name: 'tmp', emptyDir: {} },
    ],
  },
};

function merge(...overrides: (Changes & { name?: string })[]) {
  const resolution = resolveOverrides(
    overrides.map((spec, index) => ({
      name: spec.name ?? `o${index}`,
      priority: spec.priority ?? 0,
      fields: overrideFields({ ...spec, daemonSetName: 'till' }),
    })),
  );
  return resolution.kind === 'refused' ? resolution : overriddenTemplate(TEMPLATE, resolution.fields);
}

function merged(...overrides: Changes[]) {
  const result = merge(...overrides);
  assert.equal(result.kind, 'merged', JSON.stringify(result));
  return result as Extract<typeof result, { kind: 'merged' }>;
}

const till = (...overrides: Changes[]) => merged(...overrides).template.spec.containers[0];
const onTill = (change: object): Changes => ({ containers: [{ name: 'till', ...change }] });

describe('a field of an override', () => {
  const whole = TEMPLATE.spec.containers[0];
  for (const [what, change, expected] of [
    ['an image is replaced', { image: 'till:2' }, { ...whole, image: 'till:2' }],
    [
      'one limit is replaced, and the others stay',
      { resources: { limits: { memory: '2Gi' } } },
      { ...whole, resources: { ...whole?.resources, limits: { memory: '2Gi', cpu: '1' } } },
    ],
    [
      'a request is added',
      { resources: { requests: { cpu: '100m' } } },
      { ...whole, resources: { ...whole?.resources, requests: { memory: '64Mi', cpu: '100m' } } },
    ],
    [
      'a variable is replaced at its place',
      { env: [{ name: 'A', value: 'x' }] },
      { ...whole, env: [{ name: 'A', value: 'x' }, whole?.env?.[1]] },
    ],
    [
      'a value is replaced by a source, not merged with it',
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
      {
        ...whole,
        env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }, whole?.env?.[1]],
      },
    ],
    [
      'a new variable is added at the end',
      { env: [{ name: 'C', value: 'c' }] },
      { ...whole, env: [...(whole?.env ?? []), { name: 'C', value: 'c' }] },
    ],
  ] as const) {
    test(what, () => assert.deepEqual(till(onTill(change)), expected));
  }

  test('a volume is replaced as a whole, and an init container is found by name', () => {
    const { template } = merged({
      containers: [{ name: 'init', image: 'init:2' }],
      volumes: [{ name: 'data', emptyDir: {} }],
    });
    assert.deepEqual(template.spec.volumes, [
      { name: 'data', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
    ]);
    assert.equal(template.spec.initContainers?.[0]?.image, 'init:2');
  });

  test('a quantity wins over the host value of the template', () => {
    const { template } = merged(onTill({ resources: { requests: { memory: '64Mi' } } }));
    assert.equal(template.metadata?.annotations?.[MEMORY_VALUE], undefined);
    assert.equal(till(onTill({ image: 'till:2' }))?.resources?.requests?.memory, '64Mi');
    assert.equal(
      merged(onTill({ image: 'till:2' })).template.metadata?.annotations?.[MEMORY_VALUE],
      'memory',
    );
  });
});

describe('the precedence of overrides', () => {
  test('the highest priority wins for each field alone', () => {
    const low = onTill({ image: 'till:2', env: [{ name: 'A', value: 'low' }] });
    const high = { priority: 1, ...onTill({ image: 'till:3' }) };
    const container = till(low, high);
    assert.deepEqual([container?.image, container?.env?.[0]?.value], ['till:3', 'low']);
  });

  for (const [what, one, other, refusal] of [
    ['different fields', { image: 'till:2' }, { env: [{ name: 'A', value: 'x' }] }, undefined],
    ['equal values', { image: 'till:2' }, { image: 'till:2' }, undefined],
    [
      'equal quantities',
      { resources: { limits: { memory: '2Gi' } } },
      { resources: { limits: { memory: '2048Mi' } } },
      undefined,
    ],
    [
      'different values',
      { image: 'till:2' },
      { image: 'till:3' },
      'DaemonSetOverrides o0 and o1 have the same priority and different values for containers[till].image: change the priority of one',
    ],
  ] as const) {
    test(`two overrides of equal priority with ${what} are ${refusal ? 'refused' : 'merged'}`, () => {
      const result = merge(onTill(one), onTill(other));
      assert.equal(result.kind === 'refused' ? result.message : undefined, refusal);
    });
  }

  test('a contradiction below a higher priority is none', () => {
    const high = { priority: 1, ...onTill({ image: 'till:4' }) };
    assert.equal(till(onTill({ image: 'till:2' }), onTill({ image: 'till:3' }), high)?.image, 'till:4');
  });
});

describe('the annotation', () => {
  test('an override that repeats the template changes nothing', () => {
    const { template, text, applied } = merged(
      onTill({
        image: 'till:1',
        env: [{ name: 'A', value: 'a' }],
        resources: { limits: { memory: '1024Mi' } },
      }),
    );
    assert.deepEqual([template, text, applied], [TEMPLATE, '', []]);
  });

  test('it is equal for equal changes, whichever override makes them and however they are written', () => {
    const one = merged({
      volumes: [{ name: 'data', hostPath: { path: '/a', type: '' } }],
      ...onTill({ image: 'x' }),
    });
    const two = merged(onTill({ image: 'x' }), {
      volumes: [{ hostPath: { type: '', path: '/a' }, name: 'data' }],
    });
    assert.equal(one.text, two.text);
    assert.equal(one.template.metadata?.annotations?.[OVERRIDES_ANNOTATION], one.text);
    assert.notEqual(one.text, merged(onTill({ image: 'x' })).text);
  });
});

for (const [what, changes, message] of [
  ['container', { containers: [{ name: 'tlil', image: 'x' }] }, 'changes container "tlil"'],
  ['volume', { volumes: [{ name: 'dta', emptyDir: {} }] }, 'changes volume "dta"'],
] as const) {
  test(`a misspelt ${what} is refused`, () => {
    const result = merge({
      ...changes,
      containers: [...('containers' in changes ? changes.containers : [])],
    } as Changes);
    assert.equal(result.kind, 'refused');
    assert.ok(
      result.kind === 'refused' && result.message.includes(`${message}, which the DaemonSet does not have`),
    );
  });
}
