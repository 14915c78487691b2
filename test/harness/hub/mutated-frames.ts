/** Nearly valid messages of an agent: valid messages of every kind with some values replaced, removed or added. */
import fc from 'fast-check';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { FromAgent } from '../../../shared/link/messages/link-messages.js';
import { helloOf } from './raw-agent.js';

/** The node and the Pods in the messages. */
export interface FrameSubjects {
  node: string;
  /** A Pod of the node, and one of another node. */
  own: Pod;
  foreign: Pod;
}

const TIME = '2026-01-01T00:00:00Z';

const TEXTS = [
  ...[
    '',
    'x',
    'NaN',
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
    'kubernetes.io/os',
    'Connected',
  ],
  ...[
    '\u0000',
    '\u001b[31m',
    '\ud800',
    'ü'.repeat(40),
    'a'.repeat(300),
    'True',
    'Pending',
    'Warning',
    'default',
  ],
];
const QUANTITIES = [
  '',
  'NaN',
  'Infinity',
  '0x10',
  '1e1000',
  '1e999999999',
  '-1',
  '1.5',
  '4Gi',
  'constructor',
];
const TIMES = [
  ...[
    '1970-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '2026-01-01T00:00:00.123456789Z',
  ],
  ...['2026-02-30T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:00:00+01:00', 'never'],
];
const NUMBERS = [
  ...[0, 1, -1, 1.5, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 8.64e15, -8.64e15],
  ...[Number.NaN, Number.POSITIVE_INFINITY],
];
const OTHERS: readonly unknown[] = [null, true, [], {}, [null], [[]], { constructor: 'x' }, 7, 'x'];

/** One change of a message. `at` selects the place and `value` the new value, both modulo the number of choices. */
interface Mutation {
  how: 'leaf' | 'any' | 'remove' | 'add' | 'repeat';
  at: number;
  value: number;
  key: string;
}

const mutationOf = (...hows: Mutation['how'][]): fc.Arbitrary<Mutation> =>
  fc.record({
    how: fc.constantFrom(...hows),
    at: fc.nat(10_000),
    value: fc.nat(1_000),
    key: fc.constantFrom('constructor', '__proto__', 'cpu', 'name', 'type', 'status', 'x'),
  });

/** Most mutations replace a value by one of the same type. Others mostly fail the check of the message's shape. */
const MUTATION = mutationOf(...Array<'leaf'>(16).fill('leaf'), 'any', 'remove', 'add', 'repeat');
/** A static Pod is opaque bytes to the check of the message's shape. */
const POD_MUTATION = mutationOf('leaf', 'any', 'remove', 'add', 'repeat');

type Fields = Record<string, unknown>;

/** One value within a message. */
interface Place {
  parent: Fields;
  key: string;
}

function isHolding(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
}

function placesIn(value: unknown): Place[] {
  if (!isHolding(value)) return [];
  return Object.keys(value).flatMap((key) => [{ parent: value, key }, ...placesIn(value[key])]);
}

/** Values of the same type. Most are invalid in this place. */
function replacementsFor(value: unknown): readonly unknown[] {
  if (typeof value === 'number') return NUMBERS;
  if (typeof value !== 'string') return OTHERS;
  if (value === TIME) return TIMES;
  return /^\d+(Gi)?$/.test(value) ? QUANTITIES : TEXTS;
}

function pick<T>(list: readonly T[], at: number): T | undefined {
  return list[at % Math.max(list.length, 1)];
}

/** Never replaced, because nearly every other value ends the link at once. */
const ENVELOPE: ReadonlySet<string> = new Set(['kind', 'id', 'stream', 'node']);

/** Returns a copy of the message with this change. */
function mutated(message: unknown, { how, at, value, key }: Mutation): unknown {
  const copy = structuredClone(message);
  const places = placesIn(copy);
  const leaves = places.filter(({ parent, key }) => !isHolding(parent[key]) && !ENVELOPE.has(key));
  const place = pick(how === 'leaf' ? leaves : places, at);
  if (!place) return copy;
  const { parent } = place;
  const present = parent[place.key];
  if (how === 'leaf') parent[place.key] = pick(replacementsFor(present), value);
  else if (how === 'any') parent[place.key] = pick(OTHERS, value);
  else if (how === 'remove') delete parent[place.key];
  else if (how === 'repeat' && Array.isArray(parent)) parent.push(present);
  else if (isHolding(present) && !Array.isArray(present)) present[key] = pick(OTHERS, value);
  return copy;
}

function containerStatus(name: string) {
  return {
    name,
    ready: true,
    restartCount: 1,
    image: 'app:1',
    imageID: 'sha256:1',
    containerID: 'hollow://1',
    started: true,
    state: { running: { startedAt: TIME } },
    lastState: { terminated: { exitCode: 1, reason: 'Error', startedAt: TIME, finishedAt: TIME } },
  };
}

const CONDITIONS = [
  { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready', lastTransitionTime: TIME },
  { type: 'MemoryPressure', status: 'False', lastHeartbeatTime: TIME },
];

const NODE_STATUS = {
  capacity: { cpu: '4', memory: '8Gi', pods: '110' },
  allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
  conditions: CONDITIONS,
  addresses: [
    { type: 'Hostname', address: 'n' },
    { type: 'InternalIP', address: '192.0.2.1' },
  ],
  nodeInfo: {
    ...{ machineID: 'm', systemUUID: 's', bootID: 'b', kernelVersion: '6', osImage: 'Debian' },
    ...{ containerRuntimeVersion: 'hollow://1', kubeletVersion: 'v0.1.0', kubeProxyVersion: '' },
    ...{ operatingSystem: 'linux', architecture: 'amd64' },
  },
  images: [{ names: ['app:1'], sizeBytes: 1 }],
};

const POD_STATUS = {
  phase: 'Running',
  conditions: CONDITIONS,
  hostIP: '192.0.2.1',
  podIP: '10.0.0.1',
  podIPs: [{ ip: '10.0.0.1' }],
  startTime: TIME,
  containerStatuses: [containerStatus('main')],
  initContainerStatuses: [containerStatus('first')],
  qosClass: 'BestEffort',
};

function refOf({ metadata: { uid = '', namespace = '', name } }: Pod) {
  return { uid, namespace, name };
}

function staticPod(node: string) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `web-${node}`, namespace: 'default', labels: { app: 'web' }, annotations: { a: 'b' } },
    spec: {
      nodeName: node,
      tolerations: [{ operator: 'Exists' }],
      volumes: [{ name: 'v', hostPath: { path: '/srv' } }],
      containers: [
        {
          name: 'app',
          image: 'app:1',
          env: [{ name: 'A', value: 'b' }],
          resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2' } },
          ports: [{ containerPort: 80, hostPort: 8080 }],
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
      ],
    },
  };
}

/** A valid hello. */
export function validHello({ node }: FrameSubjects): FromAgent {
  const register = {
    labels: { zone: 'a', constructor: 'x' },
    taints: [{ key: 'own', value: '1', effect: 'NoSchedule' as const }],
  };
  return helloOf(node, { register, status: NODE_STATUS as never, wallTimeMs: 0 });
}

/** Valid messages of every kind that an agent may send after its welcome. `pod` is the content of a mirror Pod. */
function validMessages({ own, foreign }: FrameSubjects, pod: unknown): unknown[] {
  const object = Buffer.from(JSON.stringify(pod) ?? 'undefined');
  const event = { type: 'Warning', reason: 'Failed', message: 'it failed', count: 2 };
  const times = { firstTimestamp: TIME, lastTimestamp: TIME };
  const reportOf = (pod: Pod) => ({ ...refOf(pod), status: POD_STATUS });
  return [
    { kind: 'status', id: 1, hostTimeMs: 0, node: NODE_STATUS, pods: [], removed: [] },
    { kind: 'status', id: 1, hostTimeMs: 0, node: { capacity: NODE_STATUS.capacity }, pods: [], removed: [] },
    { kind: 'status', id: 1, hostTimeMs: 0, pods: [reportOf(own)], removed: [] },
    { kind: 'status', id: 1, hostTimeMs: 0, pods: [reportOf(own), reportOf(foreign)], removed: [] },
    { kind: 'status', id: 1, hostTimeMs: 0, pods: [], removed: [refOf(own), refOf(foreign)] },
    { kind: 'status', id: 1, hostTimeMs: 0, pods: [], removed: [], mirrors: [{ uid: 'static', object }] },
    {
      ...{ kind: 'status', id: 1, hostTimeMs: 0, wallTimeMs: 0, pods: [], removed: [] },
      returned: [{ uid: foreign.metadata.uid, object, mac: { epoch: 'e', revision: 1, tag: 'm' } }],
      turned: [{ uid: 'u', predecessor: { uid: own.metadata.uid, object } }],
      found: [own.metadata.uid],
    },
    {
      kind: 'events',
      items: [
        { involvedObject: { kind: 'Pod', ...refOf(own) }, ...event, ...times },
        { involvedObject: { kind: 'Pod', ...refOf(foreign) }, ...event, ...times },
        { involvedObject: { kind: 'Node', name: 'other' }, ...event, ...times },
      ],
    },
    { kind: 'meters', upMs: 1, memoryBytes: 1, writtenBytes: 1, diskWrittenBytes: 1, roundTripMs: 1 },
    { kind: 'applied', id: 1 },
    { kind: 'renew', csr: 'no request' },
    {
      kind: 'serviceInterest',
      wanted: [
        ['default/web', ''],
        ['default/none', 'digest'],
        ['no name', ''],
      ],
      unwanted: ['default/web', '', 'constructor/toString'],
    },
    { kind: 'streamStarted', stream: 1 },
    { kind: 'streamData', stream: 1, bytes: Buffer.from('x') },
    { kind: 'streamArrived', stream: 1 },
    { kind: 'streamCredit', stream: 1, bytes: 1 },
    { kind: 'streamClose', stream: 1, error: { reason: 'constructor', message: 'x' } },
  ];
}

/** Builds the message for these subjects. */
export type MessageOf = (subjects: FrameSubjects) => unknown;

/** A message with up to five mutations, and up to three more in its static Pod. */
export const MUTATED_MESSAGE: fc.Arbitrary<MessageOf> = fc
  .tuple(fc.nat(1_000), fc.array(MUTATION, { maxLength: 5 }), fc.array(POD_MUTATION, { maxLength: 3 }))
  .map(([kind, mutations, podMutations]) => (subjects) => {
    const messages = validMessages(
      subjects,
      podMutations.reduce(mutated, staticPod(subjects.node) as unknown),
    );
    return mutations.reduce(mutated, messages[kind % messages.length]);
  });

/** A hello with up to two mutations, of a host with any monotonic clock. */
export const MUTATED_HELLO: fc.Arbitrary<MessageOf> = fc
  .tuple(fc.array(MUTATION, { maxLength: 2 }), fc.constantFrom(0, 8.64e15, -8.64e15, 1e12))
  .map(
    ([mutations, hostTimeMs]) =>
      (subjects) =>
        mutations.reduce(mutated, { ...validHello(subjects), hostTimeMs } as unknown),
  );
