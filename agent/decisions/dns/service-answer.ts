/** Records of one Service. */
import { SERVICE_TTL_SECONDS } from '../../../shared/kube/services/cluster-dns.js';
import type { ServiceEndpoint, ServiceView, ViewedPort } from '../../../shared/kube/services/service-view.js';
import type { HostService } from '../services/host-service.js';
import {
  endpointHostname,
  endpointsForClusterIP,
  fullServiceName,
  readyEndpoints,
} from './answered-endpoints.js';
import type { ClusterName } from './cluster-name.js';
import { type DnsAnswer, type DnsQuestion, type DnsRecord, negative, positive } from './dns-reply.js';

type AskedName = Extract<ClusterName, { service: string }>;

interface AnswerRules {
  hasServiceProxy: boolean;
  random: () => number;
}

/** A name with its addresses and the ports on which it serves. */
interface Target {
  name: string;
  addresses: string[];
  ports: { port: ViewedPort; number: number }[];
}

/** Returns the answer about a Service that exists. */
export function serviceAnswer(
  question: DnsQuestion,
  name: AskedName,
  service: HostService,
  rules: AnswerRules,
): DnsAnswer {
  const { addressing } = service.view;
  if (addressing.type === 'externalName') return aliasAnswer(question, name, addressing.target);
  if (name.kind === 'service' && question.type !== 'SRV') return addressAnswer(question, service, rules);
  const targets = shuffled(targetsOf(name, service, rules), rules.random);
  if (targets.length === 0) return { kind: 'reply', reply: negative('NXDOMAIN') };
  const records = recordsOf(question, name, targets);
  if (records.length === 0) return { kind: 'reply', reply: negative('NOERROR') };
  const additionals = question.type === 'SRV' ? uniqueRecords(targets.flatMap(addressRecords)) : [];
  return { kind: 'reply', reply: positive(records, additionals) };
}

/** The most frequent question. It needs no names of endpoints. */
function addressAnswer({ name, type }: DnsQuestion, service: HostService, rules: AnswerRules): DnsAnswer {
  const { addressing } = service.view;
  const all =
    addressing.type === 'clusterIP' && rules.hasServiceProxy
      ? [addressing.address]
      : endpointsOf(service).flatMap((endpoint) => endpoint.addresses);
  // A headless Service without a ready endpoint has no name (specification 2.4.1).
  if (all.length === 0) return { kind: 'reply', reply: negative('NXDOMAIN') };
  // Several Pods of a host can share its address.
  const addresses = [...new Set(all)].filter((address) => typeOf(address) === type);
  if (addresses.length === 0) return { kind: 'reply', reply: negative('NOERROR') };
  return {
    kind: 'reply',
    reply: positive(addressRecords({ name, addresses: shuffled(addresses, rules.random) })),
  };
}

/** Returns the endpoints that DNS answers with if it does not answer with a ClusterIP. */
function endpointsOf(service: HostService): ServiceEndpoint[] {
  return service.view.addressing.type === 'clusterIP'
    ? endpointsForClusterIP(service)
    : readyEndpoints(service);
}

/** An ExternalName that looks like an address is no name (coredns plugin/etcd/msg HostType). */
function aliasAnswer({ name: asked, type }: DnsQuestion, name: AskedName, external: string): DnsAnswer {
  const target = external.replace(/\.$/, '');
  const isAddress = /^[\d.]+$/.test(target) || target.includes(':');
  if (name.kind !== 'service' || isAddress) return { kind: 'reply', reply: negative('NXDOMAIN') };
  if (type === 'SRV') return { kind: 'reply', reply: negative('NOERROR') };
  if (type !== 'CNAME') return { kind: 'alias', target };
  return { kind: 'reply', reply: positive([aliasRecord(asked, target)]) };
}

export function aliasRecord(name: string, target: string): DnsRecord {
  return { type: 'CNAME', name, ttl: SERVICE_TTL_SECONDS, data: target };
}

function targetsOf(name: AskedName, service: HostService, { hasServiceProxy }: AnswerRules): Target[] {
  const { view } = service;
  if (name.kind === 'endpoint') {
    const wanted = `${name.hostname}.${fullServiceName(view)}`;
    return endpointTargets(view, readyEndpoints(service)).filter((target) => target.name === wanted);
  }
  const targets =
    view.addressing.type === 'clusterIP' && hasServiceProxy
      ? [clusterTarget(view, view.addressing.address)]
      : endpointTargets(view, endpointsOf(service));
  if (name.kind === 'service') return targets;
  return targets
    .map((target) => ({ ...target, ports: target.ports.filter(({ port }) => isPort(port, name)) }))
    .filter(({ ports }) => ports.length > 0);
}

/** An unnamed port has no name of its own (specification 2.3.2). */
function isPort(port: ViewedPort, asked: { port: string; protocol: string }): boolean {
  return (
    port.name !== '' &&
    port.name.toLowerCase() === asked.port &&
    port.protocol.toLowerCase() === asked.protocol
  );
}

function clusterTarget(view: ServiceView, address: string): Target {
  const ports = view.ports.map((port) => ({ port, number: port.port }));
  return { name: fullServiceName(view), addresses: [address], ports };
}

/** Endpoints without a hostname have a name per address. */
function endpointTargets(view: ServiceView, endpoints: readonly ServiceEndpoint[]): Target[] {
  const service = fullServiceName(view);
  return endpoints.flatMap((endpoint) => {
    const ports = view.ports
      .map((port, index) => ({ port, number: endpoint.ports[index] ?? 0 }))
      .filter(({ number }) => number > 0);
    return endpoint.addresses.map((address) => ({
      name: `${endpointHostname(endpoint, address, service)}.${service}`,
      addresses: [address],
      ports,
    }));
  });
}

function recordsOf({ name: asked, type }: DnsQuestion, name: AskedName, targets: Target[]): DnsRecord[] {
  if (type === 'SRV') return serviceRecords(asked, targets);
  if (name.kind === 'port') return [];
  const records = targets.flatMap((target) => addressRecords({ ...target, name: asked }));
  return uniqueRecords(records).filter((record) => record.type === type);
}

/** All targets have the same weight (coredns plugin/backend_lookup.go SRV). */
function serviceRecords(asked: string, targets: readonly Target[]): DnsRecord[] {
  const count = targets.reduce((sum, { ports }) => sum + ports.length, 0);
  const weight = Math.max(1, Math.floor(100 / count));
  const records = targets.flatMap(({ name: target, ports }) =>
    ports.map(({ number }): DnsRecord => {
      const data = { priority: 0, weight, port: number, target };
      return { type: 'SRV', name: asked, ttl: SERVICE_TTL_SECONDS, data };
    }),
  );
  return uniqueRecords(records);
}

function addressRecords({ name, addresses }: Pick<Target, 'name' | 'addresses'>): DnsRecord[] {
  const ttl = SERVICE_TTL_SECONDS;
  return addresses.map((data) => ({ type: typeOf(data), name, ttl, data }));
}

function typeOf(address: string): 'A' | 'AAAA' {
  return address.includes(':') ? 'AAAA' : 'A';
}

/** Several Pods of a host can share its address. */
function uniqueRecords(records: readonly DnsRecord[]): DnsRecord[] {
  const keys = new Set<string>();
  return records.filter(({ name, type, data }) => {
    const key = `${name} ${type} ${typeof data === 'string' ? data : JSON.stringify(data)}`;
    return !keys.has(key) && keys.add(key);
  });
}

/** Fisher-Yates. Clients use the first address, so a fixed order would put all load on one endpoint. */
function shuffled<T>(items: T[], random: () => number): T[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other] as T, items[last] as T];
  }
  return items;
}
