/** Messages of an agent, nearly right: honest ones of every kind, with some of their values replaced, removed or added. */
import fc from 'fast-check';
import type { Pod } from '../../shared/kube/pod.js';
import type { FromAgent } from '../../shared/link/messages.js';
import { helloOf } from './raw-agent.js';

/** What the messages speak of. */
export interface FrameSubjects {
  node: string;
  /** A Pod of the node, and one of another node. */
  own: Pod;
  foreign: Pod;
}

const TIME = '2026-01-01T00:00:00Z';

const TEXTS = [
  ...['', 'x', 'NaN', 'Infinity', '0x10', '1e1000', '1e999999999', '100m', '-1', '4Gi', '1.5'],
  ...['constructor', '__proto__', 'toString', 'hasOwnProperty', 'kubernetes.io/os', 'Ready', 'Connected'],
  ...['\u0000', '\u001b[31m', '\ud800', 'ü'.repeat(40), 'a'.repeat(300), 'True', 'Pending', 'Warning'],
  ...['2026-02-30T00:00:00Z', '2026-01-01T24:00:00Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z', TIME],
];
const NUMBERS = [
  ...[0, 1, -1, 1.5, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 8.64e15, -8.64e15],
  ...[Number.NaN, Number.POSITIVE_INFINITY],
];

const WEIRD: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...TEXTS),
  fc.constantFrom<unknown>(...NUMBERS),
  fc.constantFrom<unknown>(null, true, [], {}, [null], [[]], { constructor: 'x' }),
  fc.string({ maxLength: 20 }),
);

/** One change: of the place that `path` leads to, wrapping around, by what `how` says. */
interface Bend {
  path: readonly number[];
  how: 'replace' | 'remove' | 'add' | 'repeat';
  value: unknown;
  key: string;
}

const BEND: fc.Arbitrary<Bend> = fc.record({
  path: fc.array(fc.nat(100), { minLength: 1, maxLength: 7 }),
  how: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'add', 'repeat'),
  value: WEIRD,
  key: fc.constantFrom('constructor', '__proto__', 'cpu', 'name', 'type', 'status', 'x'),
});

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
}

/** A copy of the value with this change in it. */
function bent(value: unknown, { path, how, value: weird, key }: Bend): unknown {
  const [at = 0, ...rest] = path;
  if (!isContainer(value)) return how === 'replace' ? weird : value;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  const fields = copy as Record<string, unknown>;
  const keys = Object.keys(fields);
  if (how === 'add' && rest.length === 0) fields[Array.isArray(copy) ? String(keys.length) : key] = weird;
  const chosen = keys[at % Math.max(keys.length, 1)];
  if (chosen === undefined || how === 'add') return copy;
  const isEnd = rest.length === 0 || !isContainer(fields[chosen]);
  if (!isEnd) fields[chosen] = bent(fields[chosen], { path: rest, how, value: weird, key });
  else if (how === 'replace') fields[chosen] = weird;
  else if (how === 'remove') delete fields[chosen];
  else if (Array.isArray(copy)) copy.push(fields[chosen]);
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

/** An honest hello. `hostTimeMs` may be any number: hosts' steady clocks begin anywhere. */
export function honestHello({ node }: FrameSubjects): FromAgent {
  const register = {
    labels: { zone: 'a', constructor: 'x' },
    taints: [{ key: 'own', value: '1', effect: 'NoSchedule' as const }],
  };
  return helloOf(node, { register, status: NODE_STATUS as never, wallTimeMs: 0 });
}

/** One honest message of each kind that an agent may send once it is welcome. `mirror`: what it says of its static Pod. */
function honest({ own, foreign }: FrameSubjects, mirror: unknown): unknown[] {
  const object = Buffer.from(JSON.stringify(mirror) ?? 'undefined');
  const event = { type: 'Warning', reason: 'Failed', message: 'it failed', count: 2 };
  const times = { firstTimestamp: TIME, lastTimestamp: TIME };
  const reportOf = (pod: Pod) => ({ ...refOf(pod), status: POD_STATUS });
  return [
    { kind: 'status', id: 1, hostTimeMs: 0, node: NODE_STATUS, pods: [], removed: [] },
    { kind: 'status', id: 1, hostTimeMs: 0, pods: [reportOf(own), reportOf(foreign)], removed: [] },
    { kind: 'status', id: 1, hostTimeMs: 0, pods: [], removed: [refOf(own), refOf(foreign)] },
    { kind: 'status', id: 1, hostTimeMs: 0, pods: [], removed: [], mirrors: [{ uid: 'static', object }] },
    {
      ...{ kind: 'status', id: 1, hostTimeMs: 0, wallTimeMs: 0, pods: [], removed: [] },
      returned: [{ uid: foreign.metadata.uid, object, seal: { era: 'e', revision: 1, mac: 'm' } }],
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
    { kind: 'meters', upMs: 1, memoryBytes: 1, writtenBytes: 1, storedBytes: 1, roundTripMs: 1 },
    { kind: 'applied', id: 1 },
    { kind: 'renew', csr: 'no request' },
    { kind: 'streamStarted', stream: 1 },
    { kind: 'streamData', stream: 1, bytes: Buffer.from('x') },
    { kind: 'streamArrived', stream: 1 },
    { kind: 'streamCredit', stream: 1, bytes: 1 },
    { kind: 'streamClose', stream: 1, error: { reason: 'constructor', message: 'x' } },
  ];
}

/** Makes the message of its subjects. */
export type MessageOf = (subjects: FrameSubjects) => unknown;

/** A message that a welcome agent might send; bent up to three times, its static Pod apart from the rest. */
export const BENT_MESSAGE: fc.Arbitrary<MessageOf> = fc
  .tuple(fc.nat(1_000), fc.array(BEND, { maxLength: 3 }), fc.array(BEND, { maxLength: 3 }))
  .map(([kind, bends, mirrorBends]) => (subjects) => {
    const messages = honest(subjects, mirrorBends.reduce(bent, staticPod(subjects.node) as unknown));
    return bends.reduce(bent, messages[kind % messages.length]);
  });

/** A hello, bent up to twice. */
export const BENT_HELLO: fc.Arbitrary<MessageOf> = fc
  .array(BEND, { maxLength: 2 })
  .map((bends) => (subjects) => bends.reduce(bent, honestHello(subjects) as unknown));
