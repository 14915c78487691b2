/** The ConfigMaps and Secrets that a Pod names. If one place were missed, the host would wait for it without end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configKey, configReferences } from '../../../shared/kube/pods/config-reference.js';
import type { Container, PodSpec } from '../../../shared/kube/pods/pod-types.js';

function named(spec: Partial<PodSpec>): string[] {
  const pod = { metadata: { name: 'p', namespace: 'ns' }, spec: { containers: [], ...spec } };
  return configReferences(pod).map(configKey);
}

const container = (fields: Partial<Container>): Container => ({ name: 'c', image: 'i', ...fields });
const SECRET = ['Secret/ns/x'];
const CONFIG_MAP = ['ConfigMap/ns/x'];

describe('a Pod names', () => {
  const env = (valueFrom: object) => [container({ env: [{ name: 'A', valueFrom }] })];
  const cases: [where: string, spec: Partial<PodSpec>, expected: string[]][] = [
    ['a pull secret', { imagePullSecrets: [{ name: 'x' }] }, SECRET],
    ['a Secret volume', { volumes: [{ name: 'v', secret: { secretName: 'x', optional: true } }] }, SECRET],
    ['a ConfigMap volume', { volumes: [{ name: 'v', configMap: { name: 'x' } }] }, CONFIG_MAP],
    [
      'a projected Secret',
      { volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 'x' } }] } }] },
      SECRET,
    ],
    [
      'a projected ConfigMap',
      { volumes: [{ name: 'v', projected: { sources: [{ configMap: { name: 'x' } }] } }] },
      CONFIG_MAP,
    ],
    ['a variable of a Secret', { containers: env({ secretKeyRef: { name: 'x', key: 'k' } }) }, SECRET],
    [
      'a variable of a ConfigMap',
      { containers: env({ configMapKeyRef: { name: 'x', key: 'k' } }) },
      CONFIG_MAP,
    ],
    [
      'all keys of a Secret',
      { containers: [container({ envFrom: [{ secretRef: { name: 'x' } }] })] },
      SECRET,
    ],
    [
      'all keys of a ConfigMap',
      { containers: [container({ envFrom: [{ configMapRef: { name: 'x' } }] })] },
      CONFIG_MAP,
    ],
    [
      "an init container's references",
      { initContainers: env({ secretKeyRef: { name: 'x', key: 'k' } }) },
      SECRET,
    ],
    [
      'a reference without a name is ignored',
      { imagePullSecrets: [{}], volumes: [{ name: 'v', emptyDir: {} }] },
      [],
    ],
    [
      'repeated references are listed once',
      { imagePullSecrets: [{ name: 'x' }], volumes: [{ name: 'v', secret: { secretName: 'x' } }] },
      SECRET,
    ],
  ];
  for (const [where, spec, expected] of cases) {
    test(where, () => assert.deepEqual(named(spec), expected));
  }
});
