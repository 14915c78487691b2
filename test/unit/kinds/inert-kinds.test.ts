/** Kinds that are stored without effect: each write says what does not happen, and the columns are upstream's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_KINDS } from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';

const OWN: KubeObject = { apiVersion: '', kind: '', metadata: { name: 'web' } };
const INGRESS_PATHS = [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web' } } }];
const CLAIM = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

interface Case {
  kind: string;
  object: object;
  /** Field paths that an object without contents lacks. */
  required: string[];
  warning: RegExp;
  cells: unknown[];
}

/** The columns without Age. */
const CASES: Case[] = [
  {
    kind: 'Ingress',
    object: { spec: { ingressClassName: 'nginx', rules: [{ host: 'a.b', http: { paths: INGRESS_PATHS } }] } },
    required: ['spec'],
    warning: /only if an ingress controller runs/,
    cells: ['web', 'nginx', 'a.b', '', '80'],
  },
  {
    kind: 'IngressClass',
    object: { spec: { controller: 'k8s.io/ingress-nginx' } },
    required: ['spec.controller'],
    warning: /only an ingress controller that runs in Pods uses it/,
    cells: ['web', 'k8s.io/ingress-nginx', '<none>'],
  },
  {
    kind: 'StorageClass',
    object: { provisioner: 'example.com/disk' },
    required: ['provisioner'],
    warning: /provisions no volumes/,
    cells: ['web', 'example.com/disk', 'Delete', 'Immediate', false],
  },
  {
    kind: 'CSIDriver',
    object: { spec: { attachRequired: false } },
    required: [],
    warning: /calls no CSI drivers/,
    cells: ['web', false, false, false, '<unset>', false, 'Persistent'],
  },
  {
    kind: 'PersistentVolumeClaim',
    object: { spec: CLAIM },
    required: ['spec.accessModes', 'spec.resources[storage]'],
    warning: /the claim and Pods that use it stay Pending/,
    cells: ['web', 'Pending', '', '', '', '', '<unset>', 'Filesystem'],
  },
  {
    kind: 'PersistentVolume',
    object: { spec: { accessModes: ['ReadWriteMany'], capacity: { storage: '1Gi' } } },
    required: ['spec.accessModes', 'spec.capacity'],
    warning: /binds it to no claim/,
    cells: ['web', '1Gi', 'RWX', 'Retain', 'Pending', '', '', '<unset>', '', 'Filesystem'],
  },
  {
    kind: 'PodTemplate',
    object: { template: { spec: { containers: [{ name: 'a', image: 'b' }] } } },
    required: [],
    warning: /no controller of Everynode creates Pods of it/,
    cells: ['web', 'a', 'b', '<none>'],
  },
  {
    kind: 'HorizontalPodAutoscaler',
    object: { spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 3 } },
    // The maximum is neither positive nor at least the minimum.
    required: [
      'spec.scaleTargetRef.kind',
      'spec.scaleTargetRef.name',
      'spec.maxReplicas',
      'spec.maxReplicas',
    ],
    warning: /scales nothing by metrics/,
    cells: ['web', 'Deployment/web', '<unknown>', '1', 3, 0],
  },
  {
    kind: 'RuntimeClass',
    object: { handler: 'nvidia' },
    required: ['handler'],
    warning: /engine's default runtime/,
    cells: ['web', 'nvidia'],
  },
];

for (const { kind: name, object, required, warning, cells } of CASES) {
  test(`${name} is stored with a warning that says what does not happen`, () => {
    const kind = ALL_KINDS.find((each) => each.kind === name) as Kind<KubeObject>;
    const whole = structuredClone({ ...OWN, ...object });
    kind.setDefaults(whole);
    kind.prepareForCreate(whole, { now: 0 });
    assert.deepEqual(kind.validate(whole), []);
    const [text = ''] = kind.warnings(whole);
    assert.match(text, warning);
    assert.ok(text.startsWith(`${name}: `), text);
    const columns = kind.columns.filter((column) => column.name !== 'Age');
    assert.deepEqual(
      columns.map(({ cell }) => cell(whole, 0)),
      cells,
    );
    const empty = structuredClone(OWN);
    kind.setDefaults(empty);
    assert.deepEqual(
      kind.validate(empty).map(({ field }) => field),
      required,
    );
  });
}

const SCALED = { scaleTargetRef: { kind: 'Deployment', name: 'web' } };
const VOLUME = { capacity: { storage: '1Gi' } };
const REFUSED: [kind: string, spec: object, problem: RegExp][] = [
  [
    'HorizontalPodAutoscaler',
    { ...SCALED, minReplicas: -5, maxReplicas: 3 },
    /^spec\.minReplicas: .*-5: must be greater than or equal to 1$/,
  ],
  [
    'HorizontalPodAutoscaler',
    { ...SCALED, minReplicas: 4, maxReplicas: 3 },
    /^spec\.maxReplicas: .*3: must be greater than or equal to `minReplicas`$/,
  ],
  [
    'PersistentVolumeClaim',
    { ...CLAIM, accessModes: ['Foo'] },
    /^spec\.accessModes: .*Unsupported value: "Foo": supported values: "ReadOnlyMany"/,
  ],
  [
    'PersistentVolumeClaim',
    { ...CLAIM, accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] },
    /^spec\.accessModes: .*may not use ReadWriteOncePod with other access modes$/,
  ],
  ['PersistentVolume', { ...VOLUME, accessModes: ['Foo'] }, /^spec\.accessModes: .*Unsupported value: "Foo"/],
];

for (const [name, spec, problem] of REFUSED) {
  test(`${name} is refused: ${problem.source}`, () => {
    const kind = ALL_KINDS.find((each) => each.kind === name) as Kind<KubeObject>;
    const whole = structuredClone({ ...OWN, spec }) as KubeObject;
    kind.setDefaults(whole);
    const found = kind.validate(whole).map(({ field, message }) => `${field}: ${message}`);
    assert.equal(found.length, 1, found.join());
    assert.match(found[0] ?? '', problem);
  });
}

test('an empty claimRef is shown as upstream shows it', () => {
  const kind = ALL_KINDS.find((each) => each.kind === 'PersistentVolume') as Kind<KubeObject>;
  const column = kind.columns.find(({ name }) => name === 'Claim');
  assert.equal(column?.cell({ ...OWN, spec: { claimRef: {} } } as KubeObject, 0), '/');
});
