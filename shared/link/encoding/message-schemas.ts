/** Schema of each message: all fields with type and limit. */

import { MAX_PAGE_PATH, MAX_PAGE_QUERY } from '../messages/link-limits.js';
import {
  type AttachStreamRequest,
  type DesiredObject,
  type ExecStreamRequest,
  type FromAgent,
  type FromHub,
  type HandedOverPod,
  type KubeletStreamRequest,
  type LogStreamRequest,
  MAX_ADDRESS_LENGTH,
  MAX_COORDINATORS,
  MAX_FRAME_BYTES,
  type MirrorPod,
  type ObjectMac,
  type PortStreamRequest,
  type ReturnedObject,
  STREAM_CHUNK_BYTES,
  STREAM_WINDOW_BYTES,
  type StreamRequest,
  type UsageStreamRequest,
} from '../messages/link-messages.js';
import { truncatedEvents } from './event-schema.js';
import {
  bytes,
  flag,
  integer,
  list,
  mapOf,
  oneOf,
  optional,
  pair,
  record,
  type Schema,
  tagged,
  text,
} from './schema-combinators.js';
import { endpointChanges, serviceInterest, serviceViews } from './service-schemas.js';
import { name, nodeStatus, podStatus, taint, timestamp } from './status-schemas.js';

/** More static Pods than any host should have. */
const MAX_MIRRORS = 500;

const uid = text(128);
const id = integer(0);
const timeMs = integer(-8.64e15, 8.64e15);
/** Bytes or milliseconds since the start of a process. */
const amount = integer(0);
const durationMs = integer(0, 2 ** 31);
const features = list(text(64), 100);
const note = text(4_096);
const coordinators = list(text(MAX_ADDRESS_LENGTH), MAX_COORDINATORS);
const podName = { uid, namespace: name, name };
const streamNumber = integer(1);

type Of<K extends (FromAgent | FromHub)['kind']> = Extract<FromAgent | FromHub, { kind: K }>;

const seal = record<ObjectMac>({ epoch: uid, revision: id, tag: text(128) });

const streamData = record<Of<'streamData'>>({
  kind: oneOf('streamData'),
  stream: streamNumber,
  bytes: bytes(STREAM_CHUNK_BYTES),
});

const streamArrived = record<Of<'streamArrived'>>({ kind: oneOf('streamArrived'), bytes: integer(1) });

const streamCredit = record<Of<'streamCredit'>>({
  kind: oneOf('streamCredit'),
  stream: streamNumber,
  bytes: integer(1, STREAM_WINDOW_BYTES),
});

const streamClose = record<Of<'streamClose'>>({
  kind: oneOf('streamClose'),
  stream: streamNumber,
  error: optional(record<{ reason: string; message: string }>({ reason: name, message: note })),
});

const returnedObject = record<ReturnedObject>({
  uid,
  object: optional(bytes(MAX_FRAME_BYTES)),
  mac: optional(seal),
});

export const FROM_AGENT: { [K in FromAgent['kind']]: Schema<Of<K>> } = {
  hello: record<Of<'hello'>>({
    kind: oneOf('hello'),
    node: name,
    bootID: text(128),
    instanceID: text(128),
    agentVersion: text(64),
    features,
    clusterUID: optional(uid),
    epoch: optional(uid),
    revision: id,
    objects: list(pair(uid, text(128))),
    nodeUid: optional(uid),
    register: record<Of<'hello'>['register']>({ labels: mapOf(text(63)), taints: list(taint, 100) }),
    status: nodeStatus,
    hostTimeMs: timeMs,
    wallTimeMs: optional(timeMs),
  }),
  applied: record<Of<'applied'>>({ kind: oneOf('applied'), id }),
  status: record<Of<'status'>>({
    kind: oneOf('status'),
    id,
    hostTimeMs: timeMs,
    wallTimeMs: optional(timeMs),
    node: optional(nodeStatus),
    pods: list(record<Of<'status'>['pods'][number]>({ ...podName, status: podStatus })),
    removed: list(record<Of<'status'>['removed'][number]>(podName)),
    returned: optional(list(returnedObject)),
    handedOver: optional(list(record<HandedOverPod>({ uid, predecessor: returnedObject }))),
    mirrors: optional(list(record<MirrorPod>({ uid, object: bytes(MAX_FRAME_BYTES) }), MAX_MIRRORS)),
    foundUids: optional(list(uid)),
    applied: optional(id),
  }),
  events: record<Of<'events'>>({
    kind: oneOf('events'),
    items: truncatedEvents,
  }),
  meters: record<Of<'meters'>>({
    kind: oneOf('meters'),
    uptimeMs: integer(0, 1e13),
    memoryBytes: amount,
    writtenBytes: amount,
    diskWrittenBytes: optional(amount),
    roundTripMs: optional(durationMs),
  }),
  renew: record<Of<'renew'>>({ kind: oneOf('renew'), csr: text(16_384) }),
  requestServing: record<Of<'requestServing'>>({
    kind: oneOf('requestServing'),
    csr: text(16_384),
    addresses: list(text(64), 16),
  }),
  serviceInterest,
  streamStarted: record<Of<'streamStarted'>>({ kind: oneOf('streamStarted'), stream: streamNumber }),
  streamData,
  streamArrived,
  streamCredit,
  streamClose,
};

const log = record<LogStreamRequest>({
  type: oneOf('log'),
  podUid: uid,
  container: name,
  follow: flag,
  previous: flag,
  timestamps: flag,
  tailLines: optional(integer(0)),
  sinceTime: optional(timestamp),
  sinceSeconds: optional(integer(0)),
  limitBytes: optional(integer(0)),
});

const process = { podUid: uid, container: name, stdin: flag, stdout: flag, stderr: flag, tty: flag };

const streamRequest = tagged<StreamRequest>({
  log,
  exec: record<ExecStreamRequest>({
    type: oneOf('exec'),
    ...process,
    // The kernel's limit for one argument (MAX_ARG_STRLEN).
    command: list(text(131_072), 4_096),
  }),
  attach: record<AttachStreamRequest>({ type: oneOf('attach'), ...process }),
  port: record<PortStreamRequest>({ type: oneOf('port'), podUid: uid, port: integer(1, 65_535) }),
  usage: record<UsageStreamRequest>({ type: oneOf('usage') }),
  kubelet: record<KubeletStreamRequest>({
    type: oneOf('kubelet'),
    path: text(MAX_PAGE_PATH),
    query: text(MAX_PAGE_QUERY),
    gzip: flag,
  }),
});

export const FROM_HUB: { [K in FromHub['kind']]: Schema<Of<K>> } = {
  welcome: record<Of<'welcome'>>({
    kind: oneOf('welcome'),
    features,
    clusterUID: uid,
    epoch: uid,
    heartbeatIntervalMs: integer(1, 2 ** 31),
    reconnectSpreadMs: durationMs,
    serverTimeMs: timeMs,
    node: record<Of<'welcome'>['node']>({
      metadata: record<Pick<Of<'welcome'>['node']['metadata'], 'name' | 'uid' | 'labels' | 'annotations'>>({
        name,
        uid: optional(uid),
        labels: optional(mapOf(text(1_024))),
        annotations: optional(mapOf(text(262_144))),
      }),
    }),
    bearerToken: optional(text(128)),
    coordinators: optional(coordinators),
  }),
  heartbeatConfig: record<Of<'heartbeatConfig'>>({
    kind: oneOf('heartbeatConfig'),
    heartbeatMs: integer(1, 2 ** 31),
    silenceMs: integer(1, 2 ** 31),
    batchMs: durationMs,
    compress: flag,
  }),
  time: record<Of<'time'>>({ kind: oneOf('time'), serverTimeMs: timeMs }),
  coordinators: record<Of<'coordinators'>>({ kind: oneOf('coordinators'), coordinators }),
  desired: record<Of<'desired'>>({
    kind: oneOf('desired'),
    id,
    revision: id,
    set: list(
      record<DesiredObject>({
        uid,
        digest: text(128),
        kind: optional(oneOf('ConfigMap', 'Secret')),
        object: bytes(MAX_FRAME_BYTES),
        mac: optional(seal),
      }),
    ),
    removed: list(uid),
  }),
  returnRequest: record<Of<'returnRequest'>>({ kind: oneOf('returnRequest'), uids: list(uid) }),
  prefetchImages: record<Of<'prefetchImages'>>({
    kind: oneOf('prefetchImages'),
    images: list(text(1_024), 100),
  }),
  statusAck: record<Of<'statusAck'>>({ kind: oneOf('statusAck'), id }),
  goodbye: record<Of<'goodbye'>>({
    kind: oneOf('goodbye'),
    reason: oneOf('superseded', 'duplicate', 'draining', 'refused', 'nodeDeleted'),
    message: note,
    retryMs: optional(durationMs),
    clusterUID: optional(uid),
  }),
  servingIssued: record<Of<'servingIssued'>>({
    kind: oneOf('servingIssued'),
    certificate: text(65_536),
    clientCa: text(262_144),
  }),
  certified: record<Of<'certified'>>({
    kind: oneOf('certified'),
    certificate: optional(text(65_536)),
    ca: optional(text(262_144)),
  }),
  serviceViews,
  endpointChanges,
  streamOpen: record<Of<'streamOpen'>>({
    kind: oneOf('streamOpen'),
    stream: streamNumber,
    request: streamRequest,
  }),
  streamData,
  streamArrived,
  streamCredit,
  streamClose,
};
