/** The console's editor: positions in a manifest's text, and errors of the API. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { parse } from 'yaml';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { StatusCause } from '../../../shared/kube/objects/api-status.js';
import { consoleModule } from '../../harness/console/console-module.js';

interface Problem {
  line: number;
  from: number;
  to: number;
  message: string;
}
interface ManifestText {
  manifestText(daemonSet: DaemonSet): string;
  readManifest(text: string): { manifest?: Record<string, unknown>; problems?: Problem[] };
  mergeManifest(base: DaemonSet, manifest: Record<string, unknown>): { metadata: DaemonSet['metadata'] };
  problemsOf(text: string, refusal: { message: string; causes: readonly StatusCause[] }): Problem[];
}

const TEXT = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: till
  labels:
    example.com/site: hamburg
spec:
  minReadySeconds: soon
  template:
    spec:
      containers:
        - name: main
          image: a
        - name: side
          imag: b
`;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const DAEMON_SET = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {
    name: 'till',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '7',
    finalizers: ['example.com/keep'],
    labels: { app: 'till', old: 'yes' },
    annotations: { [LAST_APPLIED]: '{}', note: 'a' },
    managedFields: [],
  },
  spec: { selector: { matchLabels: { app: 'till' } }, template: { spec: { containers: [] } } },
  status: { numberReady: 3 },
} as unknown as DaemonSet;

let text: ManifestText;
before(async () => {
  text = await consoleModule<ManifestText>('daemonsets/manifest-text.ts');
});

describe('a field that an API error names', () => {
  const cases: [field: string, line: number, marked: string][] = [
    ['spec.template.spec.containers[1].imag', 15, 'imag: b'],
    ['spec.template.spec.containers[1]', 14, 'name: side\n          imag: b\n'],
    ['spec.template.spec.containers[0].image', 13, 'image: a'],
    ['metadata.labels[example.com/site]', 6, 'example.com/site: hamburg'],
    // A path that the text lacks is marked where it would be.
    ['spec.template.spec.containers[0].resources.limits[cpu]', 12, 'name: main\n          image: a\n'],
    ['spec.selector', 7, 'spec'],
  ];
  for (const [field, line, marked] of cases) {
    test(`${field} is at line ${line}`, () => {
      const [problem] = text.problemsOf(TEXT, {
        message: '',
        causes: [{ field, message: 'Required value' }],
      });
      assert.ok(problem);
      assert.equal(problem.line, line);
      assert.equal(TEXT.slice(problem.from, problem.to).trimEnd(), marked.trimEnd());
      assert.equal(problem.message, `${field}: Required value`);
    });
  }
});

test('an unknown field, a wrong type and an error without a field get a line too', () => {
  const at = (message: string) =>
    text.problemsOf(TEXT, { message, causes: [] }).map((problem) => [problem.line, problem.message]);
  assert.deepEqual(at('strict decoding error: unknown field "spec.template.spec.containers[1].imag"'), [
    [15, 'unknown field "spec.template.spec.containers[1].imag"'],
  ]);
  assert.deepEqual(
    at('json: cannot unmarshal string into Go struct field DaemonSetSpec.spec.minReadySeconds of type int32'),
    [[8, 'spec.minReadySeconds: must be of type int32']],
  );
  assert.deepEqual(at('daemonsets.apps is forbidden'), [[1, 'daemonsets.apps is forbidden']]);
});

test('text that is not a manifest is reported with its line', () => {
  assert.equal(text.readManifest('a: [1').problems?.[0]?.line, 1);
  assert.equal(text.readManifest('a: 1\nb: c: d\n').problems?.[0]?.line, 2);
  assert.match(text.readManifest('- a\n').problems?.[0]?.message ?? '', /mapping/);
  assert.match(text.readManifest('').problems?.[0]?.message ?? '', /mapping/);
});

test("the editor shows the user's fields, keeps hidden fields, and deletes fields that the user removed", () => {
  const shown = parse(text.manifestText(DAEMON_SET)) as Record<string, unknown>;
  assert.deepEqual(shown, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name: 'till',
      namespace: 'default',
      labels: { app: 'till', old: 'yes' },
      annotations: { note: 'a' },
    },
    spec: DAEMON_SET.spec,
  });
  const edited = { ...shown, metadata: { name: 'till', namespace: 'default', labels: { app: 'till' } } };
  const { metadata } = text.mergeManifest(DAEMON_SET, edited);
  assert.deepEqual(metadata, {
    name: 'till',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '7',
    finalizers: ['example.com/keep'],
    labels: { app: 'till' },
    annotations: { [LAST_APPLIED]: '{}' },
  });
});
