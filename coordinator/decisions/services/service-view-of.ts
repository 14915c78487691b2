/** What a host receives about a Service, except its endpoints. */
import {
  relayPortsOf,
  WITHIN_ANNOTATION,
  wantsRelay,
} from '../../../shared/kube/services/service-annotations.js';
import {
  DEFAULT_AFFINITY_SECONDS,
  HEADLESS,
  type Service,
  type ServicePort,
  type ServiceSpec,
} from '../../../shared/kube/services/service-types.js';
import type {
  ServiceAddressing,
  ServiceView,
  TrafficRules,
  ViewedPort,
} from '../../../shared/kube/services/service-view.js';

/** A view without endpoints. The hub adds those that the host may need. */
type ServiceRules = Omit<ServiceView, 'remote'>;

/** Returns the view of a Service. Fields that are absent in the stored object have upstream's defaults. */
export function serviceViewOf({ metadata, spec = {} }: Service): ServiceRules {
  const ports = spec.ports ?? [];
  const selector = selectorOf(spec);
  const relayPorts = wantsRelay(metadata) ? relayPortsOf(metadata) : undefined;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid ?? '',
    addressing: addressingOf(spec),
    ports: ports.map((port) => viewedPort(port, hasNodePorts(spec))),
    ...(selector ? { selector } : {}),
    publishNotReadyAddresses: spec.publishNotReadyAddresses ?? false,
    traffic: trafficRules(spec, metadata.annotations?.[WITHIN_ANNOTATION] === 'zone'),
    ...(relayPorts ? { relayPorts: ports.map((port) => relayPortFor(port, relayPorts)) } : {}),
  };
}

/** A stored Service without an address is headless: it was created while addresses were off. */
function addressingOf({ type, clusterIP, externalName }: ServiceSpec): ServiceAddressing {
  if (type === 'ExternalName') return { type: 'externalName', target: externalName ?? '' };
  if (!clusterIP || clusterIP === HEADLESS) return { type: 'headless' };
  return { type: 'clusterIP', address: clusterIP };
}

/** An empty selector is stored like an absent one. An ExternalName Service has no endpoints. */
function selectorOf({ type, selector }: ServiceSpec): Record<string, string> | undefined {
  if (type === 'ExternalName' || Object.keys(selector ?? {}).length === 0) return undefined;
  return selector;
}

function hasNodePorts({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

function viewedPort(
  { name, protocol, port, targetPort, nodePort }: ServicePort,
  isOnNodes: boolean,
): ViewedPort {
  return {
    name: name ?? '',
    protocol: protocol ?? 'TCP',
    port,
    targetPort: targetPort || port,
    nodePort: isOnNodes ? (nodePort ?? 0) : 0,
  };
}

function relayPortFor({ port, protocol }: ServicePort, relayPorts: ReadonlyMap<number, number>): number {
  return (protocol ?? 'TCP') === 'TCP' ? (relayPorts.get(port) ?? 0) : 0;
}

/** `PreferClose` is the older name of `PreferSameZone` (KEP-3015). */
const PREFERENCES: Readonly<Record<string, TrafficRules['prefer']>> = {
  PreferClose: 'sameZone',
  PreferSameZone: 'sameZone',
  PreferSameNode: 'sameNode',
};

function trafficRules(spec: ServiceSpec, strictZone: boolean): TrafficRules {
  const { sessionAffinity, sessionAffinityConfig, trafficDistribution = '' } = spec;
  const affinitySeconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS;
  return {
    internal: spec.internalTrafficPolicy === 'Local' ? 'Local' : 'Cluster',
    external: hasNodePorts(spec) && spec.externalTrafficPolicy === 'Local' ? 'Local' : 'Cluster',
    prefer: PREFERENCES[trafficDistribution] ?? 'none',
    strictZone,
    affinitySeconds: sessionAffinity === 'ClientIP' ? affinitySeconds : 0,
  };
}
