import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedScope } from '../../../coordinator/decisions/host-values/changed-scope.js';
import { refusalOfValues } from '../../../coordinator/decisions/host-values/rendered-pod.js';
import {
  resolveValues,
  type ValueCandidate,
} from '../../../coordinator/decisions/host-values/value-resolution.js';
import { valueUsesOf } from '../../../coordinator/decisions/host-values/value-uses.js';
import type { HostValue, HostValuesSpec } from '../../../shared/kube/host-values/host-values-types.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';

const NODE = { name: 'n1', labels: { site: 'kiel' }, annotations: { 'a.b/c': 'd' } };
const STORE = "hostValues['store']";

const candidate = (from: string, priority: number, isNamed: boolean, value: HostValue): ValueCandidate => ({
  from,
  priority,
  isNamed,
  value,
});

const PRECEDENCE: [string, ValueCandidate[], string | RegExp][] = [
  ['the only object', [candidate('a', 0, false, '1')], '1'],
  ['the highest priority', [candidate('a', 1, false, '1'), candidate('b', 2, false, '2')], '2'],
  ['a priority before a name', [candidate('a', 0, true, '1'), candidate('b', 1, false, '2')], '2'],
  ['a name among equal priorities', [candidate('a', 0, false, '1'), candidate('b', 0, true, '2')], '2'],
  ['equal values of equal rank', [candidate('a', 0, false, '1'), candidate('b', 0, false, '1')], '1'],
  [
    'no value of equal rank with another one',
    [candidate('b', 0, false, '2'), candidate('a', 0, false, '1')],
    /HostValues a and b have the same priority and different values/,
  ],
  [
    'the highest, if only lower ones contradict each other',
    [candidate('a', 0, false, '1'), candidate('b', 0, false, '2'), candidate('c', 1, false, '3')],
    '3',
  ],
  ['no value without an object', [], /node n1 has no value for hostValues\['store'\]/],
];

for (const [what, candidates, expected] of PRECEDENCE) {
  test(`a host gets ${what}`, () => {
    const found = resolveValues([STORE], NODE, () => candidates);
    if (typeof expected === 'string') {
      assert.deepEqual(found.kind === 'resolved' && found.values[0]?.value, expected);
    } else assert.match(found.kind === 'refused' ? found.message : '', expected);
  });
}

test('labels and annotations of the Node are values, and a missing one is refused', () => {
  const paths = ["node.metadata.annotations['a.b/c']", "node.metadata.labels['site']"];
  const found = resolveValues(paths, NODE, () => []);
  const text = `{"node.metadata.annotations['a.b/c']":"d","node.metadata.labels['site']":"kiel"}`;
  assert.equal(found.kind === 'resolved' && found.text, text);
  for (const key of ['floor', 'constructor']) {
    const missing = resolveValues([`node.metadata.labels['${key}']`], NODE, () => []);
    assert.match(missing.kind === 'refused' ? missing.message : '', new RegExp(`has no label "${key}"`));
  }
});

const SPECS: [
  string,
  HostValuesSpec | undefined,
  HostValuesSpec | undefined,
  ReturnType<typeof changedScope>,
][] = [
  ['a new used value', undefined, { values: { store: '1' } }, {}],
  ['a new unused value', undefined, { values: { other: '1' } }, undefined],
  [
    'a changed unused value',
    { values: { store: '1', other: '1' } },
    { values: { store: '1', other: '2' } },
    undefined,
  ],
  [
    'a selector without a used value',
    { values: { other: '1' } },
    { nodeSelector: { matchLabels: { a: 'b' } }, values: { other: '1' } },
    undefined,
  ],
  [
    'a selector of a used value',
    { values: { store: '1' } },
    { nodeSelector: { matchLabels: { a: 'b' } }, values: { store: '1' } },
    {},
  ],
  [
    'a value that became a Secret',
    { values: { store: '1' } },
    { secrets: { store: { name: 's', key: 'k' } } },
    {},
  ],
  [
    'one host',
    { hosts: { a: { store: '1' }, b: { store: '2' } } },
    { hosts: { a: { store: '1' }, b: { store: '3' } } },
    { named: ['b'] },
  ],
  ['a host that left', { hosts: { a: { store: '1' } } }, undefined, { named: ['a'] }],
  [
    'the priority of named hosts',
    { hosts: { a: { store: '1' }, b: { other: '2' } } },
    { priority: 1, hosts: { a: { store: '1' }, b: { other: '2' } } },
    { named: ['a'] },
  ],
  [
    'an unused value of a host',
    { hosts: { a: { other: '1' } } },
    { hosts: { a: { other: '2' } } },
    undefined,
  ],
];

for (const [what, before, after, expected] of SPECS) {
  test(`a change concerns hosts by ${what}`, () => {
    assert.deepEqual(changedScope(before, after, ['store']), expected);
  });
}

test('only the values that a template names are used', () => {
  const variable = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const template = {
    metadata: { annotations: { 'resources.fleet.everynode.dev/app.limits.memory': 'memory', plain: 'x' } },
    spec: {
      containers: [
        {
          name: 'app',
          image: 'app:$(TAG)',
          env: [variable('TAG', "hostValues['tag']"), variable('POD', 'metadata.name')],
        },
      ],
      volumes: [
        {
          name: 'v',
          downwardAPI: { items: [{ path: 'site', fieldRef: { fieldPath: "node.metadata.labels['site']" } }] },
        },
      ],
    },
  } as unknown as PodTemplateSpec;
  const { paths, keys, rendered } = valueUsesOf(template) ?? {};
  assert.deepEqual(paths, ["hostValues['memory']", "hostValues['tag']", "node.metadata.labels['site']"]);
  assert.deepEqual([keys, rendered?.map(({ name }) => name)], [['memory', 'tag'], ['app']]);
  const plain = {
    spec: { containers: [{ name: 'app', image: 'app:1', env: [variable('POD', 'metadata.name')] }] },
  };
  assert.equal(valueUsesOf(plain as unknown as PodTemplateSpec), undefined);
});

const APP = {
  name: 'app',
  image: 'app:$(TAG)',
  env: [{ name: 'TAG', valueFrom: { fieldRef: { fieldPath: STORE } } }],
};
const USES = { keys: [], paths: [STORE], resources: [], rendered: [] };
const IMAGE = { ...USES, rendered: [APP] };
const limit = (resources: object) => ({
  ...USES,
  resources: [{ container: 'app', list: 'limits', resource: 'memory', path: STORE }] as const,
  rendered: [{ name: 'app', image: 'app:1', resources }],
});
const SECRET = { secretKeyRef: { name: 's', key: 'k' } };

for (const [what, uses, value, refusal] of [
  ['a quantity', limit({}), '256Mi', undefined],
  ['a negative quantity', limit({}), '-5', /needs a quantity such as 256Mi/],
  ['a limit above the request', limit({ requests: { memory: '64Mi' } }), '65Mi', undefined],
  [
    'a limit below the request',
    limit({ requests: { memory: '64Mi' } }),
    '63Mi',
    /requests\.memory of container app is 64Mi, and must be less than or equal to its limit 63Mi/,
  ],
  ['a long text', USES, 'x'.repeat(102_400), /have 102\d{3} bytes, and at most 102400/],
  ['a tag', IMAGE, '1.4', undefined],
  ['a tag with a blank', IMAGE, '1 4', /container app is "app:1 4": invalid reference format/],
  ['an empty tag', IMAGE, '', /container app is "app:": invalid reference format/],
  ['a tag that names another variable', IMAGE, '$(HOME)', /\$\(HOME\) names no variable from a value/],
  ['a tag in a Secret', IMAGE, SECRET, /\$\(TAG\) names no variable from a value outside of a Secret/],
] as const) {
  test(`${what} is ${refusal ? 'refused' : 'rendered'}`, () => {
    const values = resolveValues([STORE], NODE, () => [candidate('a', 0, false, value)]);
    const found = refusalOfValues(uses, values);
    if (refusal) assert.match(found ?? '', refusal);
    else assert.equal(found, undefined);
  });
}
