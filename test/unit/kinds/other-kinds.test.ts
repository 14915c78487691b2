import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ALL_KINDS } from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';

function kindNamed(name: string): Kind {
  const kind = ALL_KINDS.find((candidate) => candidate.kind === name);
  assert.ok(kind);
  return kind;
}

function objectOf(name: string, fields: object): KubeObject {
  const { metadata, ...rest } = fields as { metadata?: object };
  return {
    apiVersion: 'v1',
    kind: name,
    metadata: { name: 'x', namespace: 'default', ...metadata },
    ...rest,
  };
}

function causes(name: string, next: object, current?: object): string[] {
  const kind = kindNamed(name);
  const object = objectOf(name, structuredClone(next));
  kind.setDefaults(object);
  const errors = current ? kind.validateUpdate(object, objectOf(name, current)) : kind.validate(object);
  return errors.map(({ reason, field }) => `${reason?.replace('FieldValue', '')} ${field}`);
}

const text = (value: string) => Buffer.from(value).toString('base64');
const CREATES: [kind: string, rule: string, object: object, expected: string[]][] = [
  [
    'ConfigMap',
    'keys are file names',
    { data: { 'a b': '', '..': '', '.x': '' } },
    ['Invalid data[a b]', 'Invalid data[..]'],
  ],
  ['ConfigMap', 'a key is unique', { data: { a: '' }, binaryData: { a: '' } }, ['Invalid data[a]']],
  ['ConfigMap', 'at most 1 MiB', { data: { a: 'x'.repeat(2 ** 20 + 1) } }, ['TooLong ']],
  ['Secret', 'a custom type may hold any data', { type: 'example.com/x', data: {} }, []],
  [
    'Secret',
    'TLS needs both parts',
    { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } },
    ['Required data[tls.key]'],
  ],
  [
    'Secret',
    'one of name and password',
    { type: 'kubernetes.io/basic-auth', stringData: { username: 'u' } },
    [],
  ],
  [
    'Secret',
    'registry credentials are JSON',
    { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': text('{') } },
    ['Invalid data[.dockerconfigjson]'],
  ],
  [
    'Node',
    'a taint is unique by key and effect',
    {
      spec: {
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', value: 'b', effect: 'NoSchedule' },
        ],
      },
    },
    ['Duplicate spec.taints[1]'],
  ],
  [
    'Node',
    'a taint requires an effect',
    { spec: { taints: [{ key: 'a' }] } },
    ['Required spec.taints[0].effect'],
  ],
  [
    'Node',
    'an unknown effect',
    { spec: { taints: [{ key: 'a', effect: 'X' }] } },
    ['NotSupported spec.taints[0].effect'],
  ],
  [
    'Node',
    'a taint requires a key',
    { spec: { taints: [{ key: '', effect: 'NoExecute' }] } },
    ['Invalid spec.taints[0].key', 'Invalid spec.taints[0].key'],
  ],
  [
    'Node',
    'address ranges are valid CIDRs',
    { spec: { podCIDRs: ['10.0.0.0/8', '10.0.0.0'] } },
    ['Invalid spec.podCIDRs[1]'],
  ],
  [
    'Namespace',
    'finalizers are qualified names',
    { spec: { finalizers: ['kubernetes', 'mine'] } },
    ['Invalid spec.finalizers'],
  ],
  [
    'Lease',
    'a lease duration is positive',
    { spec: { leaseDurationSeconds: 0 } },
    ['Invalid spec.leaseDurationSeconds'],
  ],
  [
    'Event',
    'an Event is in the namespace of its object',
    { involvedObject: { namespace: 'other' } },
    ['Invalid involvedObject.namespace'],
  ],
  [
    'Event',
    'an Event of a cluster-scoped object is in default',
    { involvedObject: { kind: 'Node', name: 'n' } },
    [],
  ],
  [
    'Event',
    'the newer form names its reporter',
    { involvedObject: {}, eventTime: '2026-01-01T00:00:00.000000Z', reason: 'R', action: 'A' },
    ['Required reportingComponent', 'Required reportingInstance'],
  ],
];

describe('creation', () => {
  for (const [kind, rule, object, expected] of CREATES) {
    test(`${kind}: ${rule}`, () => assert.deepEqual(causes(kind, object), expected));
  }
});

const UPDATES: [kind: string, rule: string, next: object, current: object, expected: string[]][] = [
  [
    'ConfigMap',
    'immutable stays',
    { data: { a: '1' } },
    { immutable: true, data: { a: '1' } },
    ['Forbidden immutable'],
  ],
  [
    'ConfigMap',
    'immutable data cannot change',
    { immutable: true, data: { a: '2' } },
    { immutable: true, data: { a: '1' } },
    ['Forbidden data'],
  ],
  [
    'RoleBinding',
    'the role of a binding cannot change',
    { roleRef: { kind: 'Role', name: 'b' } },
    { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' } },
    ['Invalid roleRef'],
  ],
  [
    'RoleBinding',
    'the API group of a role is optional',
    { roleRef: { kind: 'Role', name: 'a' } },
    { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' } },
    [],
  ],
  ['Secret', 'the type of a Secret cannot change', { type: 'b/b' }, { type: 'a/a' }, ['Invalid type']],
  [
    'Node',
    'the provider can be set once only',
    { spec: { providerID: 'b' } },
    { spec: { providerID: 'a' } },
    ['Forbidden spec.providerID'],
  ],
  ['Node', 'the provider can be set', { spec: { providerID: 'b' } }, { spec: {} }, []],
];

describe('change', () => {
  for (const [kind, rule, next, current, expected] of UPDATES) {
    test(`${kind}: ${rule}`, () => assert.deepEqual(causes(kind, next, current), expected));
  }
});

describe('preparation', () => {
  test('plain values of a Secret are merged with the encoded ones and take precedence', () => {
    const secret = objectOf('Secret', { data: { a: text('1'), b: text('2') }, stringData: { b: '3' } });
    kindNamed('Secret').setDefaults(secret);
    assert.deepEqual(secret, objectOf('Secret', { type: 'Opaque', data: { a: text('1'), b: text('3') } }));
  });

  test('a Namespace gets its label, its finalizer and its phase', () => {
    const namespace = objectOf('Namespace', {});
    kindNamed('Namespace').setDefaults(namespace);
    kindNamed('Namespace').prepareForCreate(namespace, { now: 0 });
    const { metadata, spec, status } = namespace as KubeObject & { spec: object; status: object };
    assert.deepEqual(metadata.labels, { 'kubernetes.io/metadata.name': 'x' });
    assert.deepEqual([spec, status], [{ finalizers: ['kubernetes'] }, { phase: 'Active' }]);
  });
});

const NOW = Date.parse('2026-01-01T01:00:00Z');

function row(kind: string, fields: object): (string | number | boolean | null)[] {
  const object = objectOf(kind, fields);
  return kindNamed(kind).columns.map((column) => column.cell(object, NOW));
}

describe('tables', () => {
  const HEADERS: Record<string, string> = {
    DaemonSet:
      'Name Desired Current Ready Up-to-date Available Node Selector Age Containers* Images* Selector*',
    Pod: 'Name Ready Status Restarts Age IP* Node* Nominated Node* Readiness Gates*',
    Node: 'Name Status Roles Age Version Internal-IP* External-IP* OS-Image* Kernel-Version* Container-Runtime*',
    ControllerRevision: 'Name Controller Revision Age',
    Namespace: 'Name Status Age',
    ConfigMap: 'Name Data Age',
    Secret: 'Name Type Data Age',
    Lease: 'Name Holder Age',
    Service: 'Name Type Cluster-IP External-IP Port(s) Age Selector*',
    ServiceAccount: 'Name Secrets Age',
    Role: 'Name Created At',
    ClusterRole: 'Name Created At',
    RoleBinding: 'Name Role Age Users* Groups* ServiceAccounts*',
    ClusterRoleBinding: 'Name Role Age Users* Groups* ServiceAccounts*',
    Event: 'Last Seen Type Reason Object Subobject* Source* Message First Seen* Count* Name*',
  };
  for (const [kind, header] of Object.entries(HEADERS)) {
    test(`columns of ${kind} are the same as upstream's`, () => {
      const names = kindNamed(kind).columns.map(
        ({ name, priority }) => `${name}${priority === 1 ? '*' : ''}`,
      );
      assert.equal(names.join(' '), header);
    });
  }

  test('a node that is ready, cordoned and has two roles', () => {
    const labels = { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/edge': '' };
    const status = { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1' } };
    const cells = row('Node', { metadata: { labels }, spec: { unschedulable: true }, status });
    assert.deepEqual(cells.slice(1, 7), [
      'Ready,SchedulingDisabled',
      'edge,worker',
      '<unknown>',
      'v1',
      '<none>',
      '<none>',
    ]);
  });

  test('a node that has never reported', () => {
    assert.equal(row('Node', {})[1], 'Unknown');
  });

  test('a ControllerRevision names its DaemonSet', () => {
    const ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'u', controller: true },
    ];
    assert.deepEqual(row('ControllerRevision', { metadata: { ownerReferences }, revision: 2 }).slice(1, 3), [
      'daemonset.apps/d',
      2,
    ]);
  });

  test('an Event in its older form', () => {
    const cells = row('Event', {
      involvedObject: { kind: 'Pod', name: 'p' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:59:00Z',
      source: { component: 'c', host: 'h' },
      count: 3,
    });
    assert.deepEqual(cells, ['60s', '', '', 'pod/p', '', 'c, h', '', '60m', 3, 'x']);
  });
});
