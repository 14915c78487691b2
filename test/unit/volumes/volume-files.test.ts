/** Files of a volume, their modes, and the errors of missing objects. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { goQuote } from '../../../agent/decisions/container-spec/go-quote.js';
import { volumeFiles } from '../../../agent/decisions/container-spec/volume-files.js';
import type { ConfigMap, Secret } from '../../../shared/kube/objects/config-types.js';
import { configKey, configReferenceTo } from '../../../shared/kube/pods/config-reference.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Volume } from '../../../shared/kube/pods/volume-types.js';

const metadata = (name: string) => ({ name, namespace: 'ns' });
const OBJECTS: (ConfigMap | Secret)[] = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadata('c'),
    data: { a: 'text', b: 'more' },
    binaryData: { bin: '/w==' },
  },
  { apiVersion: 'v1', kind: 'Secret', metadata: metadata('s'), data: { key: 'c2VjcmV0' } },
];
const byKey = new Map(OBJECTS.map((object) => [configKey(configReferenceTo(object)), object]));

const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'ns',
    labels: { zone: 'a', app: 'x' },
    annotations: { note: 'two\nlines "quoted"' },
  },
  spec: { containers: [{ name: 'main', image: 'i', resources: { limits: { memory: '64Mi' } } }] },
};

function files(volume: Omit<Volume, 'name'>) {
  return volumeFiles(
    POD,
    { name: 'v', ...volume },
    {
      nodeName: 'n',
      hostIP: '',
      podIP: '',
      allocatable: { cpu: '2' },
      findConfig: (reference) => byKey.get(configKey(reference)),
    },
  );
}

/** `path mode content` of each file, content in latin1. */
function listed(volume: Omit<Volume, 'name'>): string[] {
  const result = files(volume);
  assert.ok(result.kind === 'files', JSON.stringify(result));
  return [...result.files].map(
    ([path, { content, mode }]) => `${path} ${mode.toString(8)} ${content.toString('latin1')}`,
  );
}

describe('a volume shows', () => {
  const cases: [what: string, volume: Omit<Volume, 'name'>, expected: string[]][] = [
    ['every key of a ConfigMap', { configMap: { name: 'c' } }, ['a 644 text', 'b 644 more', 'bin 644 \xff']],
    ['every key of a Secret', { secret: { secretName: 's', defaultMode: 0o400 } }, ['key 400 secret']],
    [
      'chosen keys under their paths, with their modes',
      {
        configMap: {
          name: 'c',
          items: [
            { key: 'a', path: 'x/y' },
            { key: 'b', path: 'b', mode: 0o600 },
          ],
        },
      },
      ['x/y 644 text', 'b 600 more'],
    ],
    ['an optional object that is missing', { configMap: { name: 'none', optional: true } }, []],
    [
      'the existing ones of optional keys',
      { secret: { secretName: 's', optional: true, items: [{ key: 'none', path: 'n' }] } },
      [],
    ],
    [
      'fields of the Pod',
      {
        downwardAPI: {
          items: [
            { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
            { path: 'notes', fieldRef: { fieldPath: 'metadata.annotations' }, mode: 0o600 },
            { path: 'zone', fieldRef: { fieldPath: "metadata.labels['zone']" } },
            {
              path: 'memory',
              resourceFieldRef: { containerName: 'main', resource: 'limits.memory', divisor: '1Mi' },
            },
            { path: 'cpu', resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' } },
          ],
        },
      },
      [
        'labels 644 app="x"\nzone="a"',
        'notes 600 note="two\\nlines \\"quoted\\""',
        'zone 644 a',
        'memory 644 64',
        'cpu 644 2',
      ],
    ],
    [
      'several sources in one volume, with one default mode',
      {
        projected: {
          defaultMode: 0o440,
          sources: [
            { configMap: { name: 'c', items: [{ key: 'a', path: 'config/a' }] } },
            { secret: { name: 's' } },
            { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
            { serviceAccountToken: { path: 'token' } },
          ],
        },
      },
      ['config/a 440 text', 'key 440 secret', 'name 440 p'],
    ],
  ];
  for (const [what, volume, expected] of cases) {
    test(what, () => assert.deepEqual(listed(volume), expected));
  }
});

describe('a volume waits', () => {
  const cases: [volume: Omit<Volume, 'name'>, message: string][] = [
    [{ configMap: { name: 'none' } }, 'configmap "none" not found'],
    [{ secret: { secretName: 'none' } }, 'secret "none" not found'],
    [
      { configMap: { name: 'c', items: [{ key: 'none', path: 'n' }] } },
      'configmap references non-existent config key: none',
    ],
    [
      { secret: { secretName: 's', items: [{ key: 'none', path: 'n' }] } },
      'references non-existent secret key: none',
    ],
    [
      { projected: { sources: [{ configMap: { name: 'm' } }, { secret: { name: 'n' } }] } },
      '[configmap "m" not found, secret "n" not found]',
    ],
  ];
  for (const [volume, message] of cases) {
    test(`for: ${message}`, () => assert.deepEqual(files(volume), { kind: 'refused', message }));
  }
});

describe('quoting as in Go', () => {
  const cases: [text: string, quoted: string][] = [
    ['plain, ü and 日本', '"plain, ü and 日本"'],
    ['"\\', '"\\"\\\\"'],
    ['\t\n\r\u0007\b\f\v', '"\\t\\n\\r\\a\\b\\f\\v"'],
    ['\u0000\u001b\u007f', '"\\x00\\x1b\\x7f"'],
    ['\u00a0\u200b', '"\\u00a0\\u200b"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['😀', '"😀"'],
  ];
  for (const [text, quoted] of cases) {
    test(quoted, () => assert.equal(goQuote(text), quoted));
  }
});
