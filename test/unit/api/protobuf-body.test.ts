import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeProtobuf } from '../../../coordinator/api/bodies/protobuf-body.js';
import { POD_DEFINITIONS } from '../../../coordinator/api/bodies/protobuf-pod.js';
import { DEFINITIONS } from '../../../coordinator/kinds/schema/schema-definitions.js';

/** A field with length-delimited content, the only wire type of these messages except for one integer. */
function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
}

function integer(number: number, value: number): Buffer {
  return Buffer.from([number << 3, value]);
}

function entry(key: string, value: string): Buffer {
  return Buffer.concat([field(1, key), field(2, value)]);
}

function body(apiVersion: string, kind: string, ...raw: Buffer[]): Buffer {
  const typeMeta = Buffer.concat([field(1, apiVersion), field(2, kind)]);
  return Buffer.concat([Buffer.from('k8s\0'), field(1, typeMeta), field(2, Buffer.concat(raw))]);
}

/** As Go encodes it, with explicit empty strings and a zero time. */
const METADATA = Buffer.concat([
  field(1, 'one'),
  field(2, ''),
  field(3, ''),
  field(5, ''),
  field(6, ''),
  integer(7, 0),
  field(8, ''),
  field(11, entry('color', 'green')),
  field(11, entry('empty', '')),
]);

test('a Secret: bytes become base64, zeros and empty strings are absent, empty label values stay', () => {
  const secret = body('v1', 'Secret', field(1, METADATA), field(2, entry('a', 'b')), field(3, 'Opaque'));
  assert.deepEqual(decodeProtobuf(secret), {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'one', labels: { color: 'green', empty: '' } },
    data: { a: 'Yg==' },
    type: 'Opaque',
  });
});

test('a ConfigMap keeps values that look like defaults', () => {
  const map = body('v1', 'ConfigMap', field(1, field(1, 'm')), field(2, entry('uid', '')), integer(4, 0));
  assert.deepEqual(decodeProtobuf(map), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'm' },
    data: { uid: '' },
    immutable: false,
  });
});

test('DeleteOptions: a grace period of zero is a value', () => {
  const options = body('v1', 'DeleteOptions', integer(1, 0), field(2, field(1, 'u')), field(4, 'Background'));
  assert.deepEqual(decodeProtobuf(options), {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds: 0,
    preconditions: { uid: 'u' },
    propagationPolicy: 'Background',
  });
});

test('a Service: ports by number and by name', () => {
  const named = Buffer.concat([
    field(1, 'a'),
    integer(3, 80),
    field(4, Buffer.concat([integer(1, 1), field(3, 'web')])),
  ]);
  const numbered = Buffer.concat([
    integer(3, 81),
    field(4, Buffer.concat([integer(1, 0), integer(2, 9), field(3, '')])),
  ]);
  const bare = Buffer.concat([
    integer(3, 82),
    field(4, Buffer.concat([integer(1, 0), integer(2, 0), field(3, '')])),
  ]);
  const ports = [named, numbered, bare].map((port) => field(1, port));
  const spec = Buffer.concat([...ports, field(2, entry('app', 'x')), field(4, 'ClusterIP')]);
  const { spec: read } = decodeProtobuf(body('v1', 'Service', field(1, METADATA), field(2, spec)));
  assert.deepEqual(read, {
    ports: [{ name: 'a', port: 80, targetPort: 'web' }, { port: 81, targetPort: 9 }, { port: 82 }],
    selector: { app: 'x' },
    type: 'ClusterIP',
  });
});

test('an EndpointSlice: conditions that are false, and ports', () => {
  const conditions = Buffer.concat([integer(1, 0), integer(2, 1)]);
  const endpoint = Buffer.concat([
    field(1, '192.0.2.1'),
    field(2, conditions),
    field(6, 'n1'),
    field(7, 'z'),
  ]);
  const port = Buffer.concat([field(1, 'http'), field(2, 'TCP'), integer(3, 80)]);
  const sent = [field(1, METADATA), field(2, endpoint), field(3, port), field(4, 'IPv4')];
  const { addressType, endpoints, ports } = decodeProtobuf(
    body('discovery.k8s.io/v1', 'EndpointSlice', ...sent),
  );
  assert.equal(addressType, 'IPv4');
  assert.deepEqual(endpoints, [
    { addresses: ['192.0.2.1'], conditions: { ready: false, serving: true }, nodeName: 'n1', zone: 'z' },
  ]);
  assert.deepEqual(ports, [{ name: 'http', protocol: 'TCP', port: 80 }]);
});

test('Endpoints', () => {
  const subset = Buffer.concat([
    field(1, field(1, '192.0.2.1')),
    field(3, Buffer.concat([field(1, 'a'), integer(2, 80)])),
  ]);
  const { subsets } = decodeProtobuf(body('v1', 'Endpoints', field(1, METADATA), field(2, subset)));
  assert.deepEqual(subsets, [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'a', port: 80 }] }]);
});

test('a RoleBinding', () => {
  const subject = Buffer.concat([field(1, 'ServiceAccount'), field(2, ''), field(3, 's'), field(4, 'ns')]);
  const roleRef = Buffer.concat([field(1, 'rbac.authorization.k8s.io'), field(2, 'Role'), field(3, 'r')]);
  const sent = body(
    'rbac.authorization.k8s.io/v1',
    'RoleBinding',
    field(1, METADATA),
    field(2, subject),
    field(3, roleRef),
  );
  const { subjects, roleRef: role } = decodeProtobuf(sent);
  assert.deepEqual(subjects, [{ kind: 'ServiceAccount', name: 's', namespace: 'ns' }]);
  assert.deepEqual(role, { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' });
});

test('a review', () => {
  const attributes = Buffer.concat([field(1, 'default'), field(2, 'create'), field(5, 'pods')]);
  const review = body('authorization.k8s.io/v1', 'SelfSubjectAccessReview', field(2, field(1, attributes)));
  assert.deepEqual(decodeProtobuf(review).spec, {
    resourceAttributes: { namespace: 'default', verb: 'create', resource: 'pods' },
  });
});

test('a Pod: embedded messages, quantities, disabled switches, zeros with a meaning', () => {
  const hostPath = field(2, field(1, Buffer.concat([field(1, '/'), field(2, '')])));
  const limit = Buffer.concat([field(1, 'cpu'), field(2, field(1, '100m'))]);
  const securityContext = Buffer.concat([integer(2, 0), integer(4, 0), integer(6, 0)]);
  const port = Buffer.concat([integer(1, 0), integer(2, 80), field(3, '')]);
  const container = Buffer.concat([
    ...[field(1, 'c'), field(2, 'i'), field(5, ''), field(8, field(1, limit)), field(15, securityContext)],
    // The numbers of stdin and readinessProbe are above 15, and so two bytes long.
    ...[Buffer.from([0x80, 0x01, 0])],
    field(11, Buffer.concat([field(1, field(3, field(1, port))), integer(2, 0), integer(3, 5)])),
  ]);
  const spec = Buffer.concat([
    ...[field(1, Buffer.concat([field(1, 'root'), hostPath])), field(2, container)],
    ...[integer(4, 0), field(7, entry('gpu', '')), integer(11, 1), integer(12, 0)],
  ]);
  const { spec: read } = decodeProtobuf(body('v1', 'Pod', field(1, METADATA), field(2, spec)));
  assert.deepEqual(read, {
    volumes: [{ name: 'root', hostPath: { path: '/' } }],
    containers: [
      {
        name: 'c',
        image: 'i',
        resources: { limits: { cpu: '100m' } },
        securityContext: { privileged: false, runAsUser: 0, readOnlyRootFilesystem: false },
        readinessProbe: { tcpSocket: { port: 80 }, timeoutSeconds: 5 },
      },
    ],
    terminationGracePeriodSeconds: 0,
    nodeSelector: { gpu: '' },
    hostNetwork: true,
  });
});

/** Fields of each message. Fields of embedded messages are listed in their place. */
function podFields(): Map<string, Set<string>> {
  const messages = [...POD_DEFINITIONS.matchAll(/message (\w+) \{([^}]*)\}/g)];
  const own = new Map(
    messages.map(([, name = '', text = '']) => [name, [...text.matchAll(/(\w+)>? (\w+) =/g)]]),
  );
  own.set('LocalObjectReference', [...'string name ='.matchAll(/(\w+) (\w+) =/g)]);
  const flat = (name: string): string[] =>
    (own.get(name) ?? []).flatMap(([, type = '', field = '']) =>
      type.toLowerCase().endsWith(field.toLowerCase()) && /source$|reference$|handler$|common$/i.test(field)
        ? [field, ...flat(type)]
        : [field],
    );
  return new Map([...own.keys()].map((name) => [name, new Set(flat(name))]));
}

test('a Pod has no field that its messages lack: such a field would be lost silently', () => {
  const messages = podFields();
  const compared = Object.entries(DEFINITIONS).filter(([name]) => messages.has(name.split('.').at(-1) ?? ''));
  assert.ok(compared.length > 80);
  const lost = compared.flatMap(([name, { properties = {} }]) => {
    const known = messages.get(name.split('.').at(-1) ?? '') ?? new Set();
    return Object.keys(properties)
      .filter((field) => !known.has(field))
      .map((field) => `${name} ${field}`);
  });
  const pod = ['apiVersion', 'kind', 'status'].map((field) => `io.k8s.api.core.v1.Pod ${field}`);
  assert.deepEqual(lost, pod);
});

test('an unsupported kind is a 415 that names the supported media types', () => {
  assert.throws(() => decodeProtobuf(body('v1', 'Node')), {
    reason: 'UnsupportedMediaType',
    message: /Node is read as application\/json/,
  });
});

const RUBBISH: [string, Buffer][] = [
  ['no prefix', Buffer.from('{}')],
  ['a prefix without a body', Buffer.from('k8s\0')],
  ['a truncated envelope', body('v1', 'Secret', field(1, METADATA)).subarray(0, 20)],
  ['a truncated message', body('v1', 'Secret', field(1, METADATA).subarray(0, 9))],
  ['a kind of the definitions that cannot be a body', body('v1', 'ObjectMeta')],
  ['bytes at random', Buffer.concat([Buffer.from('k8s\0'), Buffer.from('ff00ff12a9', 'hex')])],
];

for (const [what, bytes] of RUBBISH) {
  test(`${what} is refused`, () => {
    assert.throws(() => decodeProtobuf(bytes), { name: 'ApiError' });
  });
}

test('an approval of a CertificateSigningRequest keeps its time; a zero time is absent', () => {
  const time = Buffer.concat([Buffer.from([8]), Buffer.from([0x80, 0xa8, 0xd6, 0xb9, 7])]);
  const condition = Buffer.concat([
    field(1, 'Approved'),
    field(2, 'KubectlApprove'),
    field(4, time),
    field(5, ''),
    field(6, 'True'),
  ]);
  const spec = Buffer.concat([field(1, 'PEM'), field(5, 'client auth'), field(7, 'a.b/c')]);
  const parts = [
    field(1, field(1, 'r')),
    field(2, spec),
    field(3, Buffer.concat([field(1, condition), field(2, '')])),
  ];
  assert.deepEqual(decodeProtobuf(body('certificates.k8s.io/v1', 'CertificateSigningRequest', ...parts)), {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'r' },
    spec: { request: 'UEVN', usages: ['client auth'], signerName: 'a.b/c' },
    status: {
      conditions: [
        {
          type: 'Approved',
          reason: 'KubectlApprove',
          status: 'True',
          lastUpdateTime: '2033-05-18T03:33:20Z',
        },
      ],
    },
  });
});

test('a Deployment: zero replicas are a value, and paused is absent unless it is set', () => {
  const zero = Buffer.concat([integer(1, 0), integer(2, 0), field(3, '')]);
  const strategy = field(4, Buffer.concat([field(1, 'RollingUpdate'), field(2, field(2, zero))]));
  const spec = field(2, Buffer.concat([integer(1, 0), strategy, integer(5, 0), integer(7, 0)]));
  assert.deepEqual(decodeProtobuf(body('apps/v1', 'Deployment', field(1, field(1, 'web')), spec)), {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas: 0, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0 } } },
  });
});

test('a DaemonSet: the strategy, a surge of zero and the template', () => {
  const percent = Buffer.concat([integer(1, 1), field(3, '10%')]);
  const zero = Buffer.concat([integer(1, 0), integer(2, 0), field(3, '')]);
  const strategy = Buffer.concat([
    field(1, 'RollingUpdate'),
    field(2, Buffer.concat([field(1, percent), field(2, zero)])),
  ]);
  const container = Buffer.concat([field(1, 'c'), field(2, 'app:1')]);
  const template = Buffer.concat([field(1, field(11, entry('a', 'b'))), field(2, field(2, container))]);
  const spec = Buffer.concat([
    field(1, field(1, entry('a', 'b'))),
    field(2, template),
    field(3, strategy),
    integer(4, 0),
    integer(6, 0),
  ]);
  assert.deepEqual(
    decodeProtobuf(body('apps/v1', 'DaemonSet', field(1, field(1, 'd')), field(2, spec), field(3, ''))),
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'app:1' }] } },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%', maxSurge: 0 } },
        revisionHistoryLimit: 0,
      },
    },
  );
});

test('a Lease: times keep their microseconds, and no transition is a value', () => {
  const seconds = Buffer.from([0x08, 0x80, 0x94, 0xeb, 0xdc, 0x03]);
  const spec = Buffer.concat([
    field(1, 'me'),
    integer(2, 15),
    field(3, Buffer.concat([seconds, Buffer.from([0x10, 0xa8, 0xc3, 0x01])])),
    integer(5, 0),
  ]);
  assert.deepEqual(
    decodeProtobuf(body('coordination.k8s.io/v1', 'Lease', field(1, field(1, 'l')), field(2, spec))),
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'l' },
      spec: {
        holderIdentity: 'me',
        leaseDurationSeconds: 15,
        acquireTime: '2001-09-09T01:46:40.000025Z',
        leaseTransitions: 0,
      },
    },
  );
});

test('a LimitRange: quantities by resource', () => {
  const quantity = (key: string, value: string) => Buffer.concat([field(1, key), field(2, field(1, value))]);
  const item = Buffer.concat([field(1, 'Container'), field(4, quantity('memory', '64Mi'))]);
  assert.deepEqual(
    decodeProtobuf(body('v1', 'LimitRange', field(1, field(1, 'l')), field(2, field(1, item)))),
    {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'l' },
      spec: { limits: [{ type: 'Container', default: { memory: '64Mi' } }] },
    },
  );
});
