/** Environment from ConfigMaps and Secrets, by upstream's makeEnvironmentVariables. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Environment,
  environmentOf,
} from '../../../agent/decisions/container-spec/container-environment.js';
import type { ConfigMap, Secret } from '../../../shared/kube/objects/config-types.js';
import { configKey, configReferenceTo } from '../../../shared/kube/pods/config-reference.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';

const metadata = (name: string) => ({ name, namespace: 'ns' });
const OBJECTS: (ConfigMap | Secret)[] = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadata('c'),
    data: { a: '1', b: '$(a)', 'dotted.key': 'd' },
    binaryData: { bin: '/w==' },
  },
  { apiVersion: 'v1', kind: 'Secret', metadata: metadata('s'), data: { a: 'c2VjcmV0' } },
];
const byKey = new Map(OBJECTS.map((object) => [configKey(configReferenceTo(object)), object]));

function environment(container: Partial<Container>): Environment {
  const whole: Container = { name: 'c', image: 'i', ...container };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'ns' },
    spec: { containers: [whole] },
  };
  return environmentOf(pod, whole, {
    nodeName: 'n',
    hostIP: '',
    podIP: '',
    allocatable: {},
    findConfig: (reference) => byKey.get(configKey(reference)),
  });
}

const configMapKeyRef = (name: string, key: string, optional = false) => ({
  env: [{ name: 'A', valueFrom: { configMapKeyRef: { name, key, optional } } }],
});
const secretKeyRef = (name: string, key: string, optional = false) => ({
  env: [{ name: 'A', valueFrom: { secretKeyRef: { name, key, optional } } }],
});

describe('variables', () => {
  const cases: [what: string, container: Partial<Container>, expected: Record<string, string>][] = [
    ['from a ConfigMap key', configMapKeyRef('c', 'a'), { A: '1' }],
    ['from a Secret key are decoded', secretKeyRef('s', 'a'), { A: 'secret' }],
    ['from a value with $() in it are not expanded', configMapKeyRef('c', 'b'), { A: '$(a)' }],
    ['that are optional may have no object', configMapKeyRef('none', 'a', true), {}],
    ['that are optional may have no key', secretKeyRef('s', 'none', true), {}],
    [
      'from all keys carry the prefix, without binary values',
      { envFrom: [{ prefix: 'P_', configMapRef: { name: 'c' } }] },
      { P_a: '1', P_b: '$(a)', 'P_dotted.key': 'd' },
    ],
    [
      'of the last source override earlier ones, and env overrides envFrom',
      {
        envFrom: [{ configMapRef: { name: 'c' } }, { secretRef: { name: 's' } }],
        env: [{ name: 'b', value: 'own, a=$(a)' }],
      },
      { a: 'secret', b: 'own, a=secret', 'dotted.key': 'd' },
    ],
    [
      'from an optional source that is missing',
      { envFrom: [{ secretRef: { name: 'none', optional: true } }] },
      {},
    ],
  ];
  for (const [what, container, expected] of cases) {
    test(what, () => {
      const result = environment(container);
      assert.ok(result.kind === 'values');
      assert.deepEqual(Object.fromEntries(result.values), expected);
    });
  }
});

describe('a container waits', () => {
  const cases: [container: Partial<Container>, message: string][] = [
    [configMapKeyRef('none', 'a'), 'configmap "none" not found'],
    [secretKeyRef('none', 'a'), 'secret "none" not found'],
    [configMapKeyRef('c', 'none'), "couldn't find key none in ConfigMap ns/c"],
    [configMapKeyRef('c', 'bin'), "couldn't find key bin in ConfigMap ns/c"],
    [secretKeyRef('s', 'none'), "couldn't find key none in Secret ns/s"],
    [{ envFrom: [{ configMapRef: { name: 'none' } }] }, 'configmap "none" not found'],
    [{ envFrom: [{ secretRef: { name: 'none' } }] }, 'secret "none" not found'],
  ];
  for (const [container, message] of cases) {
    test(`for: ${message}`, () => assert.deepEqual(environment(container), { kind: 'refused', message }));
  }
});
