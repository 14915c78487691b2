/** Schemas of the messages about Services. */
import type {
  RemoteEndpoint,
  ServiceAddressing,
  ServiceView,
  TrafficRules,
  ViewedPort,
} from '../../kube/services/service-view.js';
import type {
  ChangedEndpoints,
  EndpointChanges,
  ServiceInterest,
  ServiceViews,
} from '../messages/service-messages.js';
import {
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

/** More Services than the Pods of one host ask for. */
const MAX_SERVICES = 5_000;
/** Limits of upstream for the ports of a Service, and of this program for the endpoints of a view. */
const MAX_PORTS = 1_000;
const MAX_ENDPOINTS = 2_000;

const name = text(253);
const key = text(512);
const port = integer(0, 65_535);
const endpointId = integer(0, 2 ** 31);
const ids = list(endpointId, MAX_ENDPOINTS);
const ports = list(port, MAX_PORTS);

const remoteEndpoint = record<RemoteEndpoint>({
  id: endpointId,
  node: name,
  hostname: name,
  zone: name,
  addresses: list(text(64), 8),
  ports,
  state: oneOf('ready', 'terminating', 'notReady'),
});

/** A number, or the name of a container's port. */
const targetPort: Schema<number | string> = (value, path) =>
  typeof value === 'number' ? port(value, path) : text(63)(value, path);

const view = record<ServiceView>({
  namespace: name,
  name: key,
  uid: text(128),
  addressing: tagged<ServiceAddressing>({
    headless: record<Extract<ServiceAddressing, { type: 'headless' }>>({ type: oneOf('headless') }),
    clusterIP: record<Extract<ServiceAddressing, { type: 'clusterIP' }>>({
      type: oneOf('clusterIP'),
      address: text(64),
    }),
    externalName: record<Extract<ServiceAddressing, { type: 'externalName' }>>({
      type: oneOf('externalName'),
      target: name,
    }),
  }),
  ports: list(
    record<ViewedPort>({ name, protocol: oneOf('TCP', 'UDP', 'SCTP'), port, targetPort, nodePort: port }),
    MAX_PORTS,
  ),
  selector: optional(mapOf(text(63))),
  publishNotReadyAddresses: flag,
  traffic: record<TrafficRules>({
    internal: oneOf('Cluster', 'Local'),
    external: oneOf('Cluster', 'Local'),
    prefer: oneOf('none', 'sameZone', 'sameNode'),
    strictZone: flag,
    affinitySeconds: integer(0, 86_400),
  }),
  relayPorts: optional(ports),
  remote: list(remoteEndpoint, MAX_ENDPOINTS),
});

export const serviceInterest = record<ServiceInterest>({
  kind: oneOf('serviceInterest'),
  wanted: list(pair(key, text(64)), MAX_SERVICES),
  unwanted: list(key, MAX_SERVICES),
});

export const serviceViews = record<ServiceViews>({
  kind: oneOf('serviceViews'),
  set: list(view, MAX_SERVICES),
  absent: list(key, MAX_SERVICES),
});

export const endpointChanges = record<EndpointChanges>({
  kind: oneOf('endpointChanges'),
  changes: list(
    record<ChangedEndpoints>({
      service: key,
      set: list(remoteEndpoint, MAX_ENDPOINTS),
      removed: ids,
      ready: ids,
      terminating: ids,
      notReady: ids,
    }),
    MAX_SERVICES,
  ),
});
