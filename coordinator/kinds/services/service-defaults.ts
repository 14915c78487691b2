/** Defaults of a Service, and fields that this program sets or reverts before validation. */
import { RELAY_PORTS_ANNOTATION } from '../../../shared/kube/services/service-annotations.js';
import {
  DEFAULT_AFFINITY_SECONDS,
  isHeadless,
  needsClusterIP,
  needsNodePort,
  type Service,
  type ServiceSpec,
} from '../../../shared/kube/services/service-types.js';

/** Sets upstream's defaults (pkg/apis/core/v1/defaults.go SetDefaults_Service). */
export function setServiceDefaults(service: Service): void {
  service.spec ??= {};
  const { spec } = service;
  spec.type ||= 'ClusterIP';
  spec.sessionAffinity ||= 'None';
  setAffinityConfig(spec);
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP';
    if (!port.targetPort) port.targetPort = port.port;
    if (!port.nodePort) delete port.nodePort;
  }
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ||= 'Cluster';
  if (needsClusterIP(spec)) spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
  for (const ingress of service.status?.loadBalancer?.ingress ?? [])
    if (ingress.ip && spec.type === 'LoadBalancer') ingress.ipMode ??= 'VIP';
}

function setAffinityConfig(spec: ServiceSpec): void {
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity !== 'ClientIP') return;
  if (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined)
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: DEFAULT_AFFINITY_SECONDS } };
}

/** pkg/api/service ExternallyAccessible. */
export function isExternallyAccessible(spec: ServiceSpec): boolean {
  return needsNodePort(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);
}

/** Sets `clusterIPs` of clients that only know `clusterIP` (pkg/registry/core/service/storage normalizeClusterIPs). */
export function prepareServiceForCreate(service: Service): void {
  const { metadata, spec = {} } = service;
  service.status = { loadBalancer: {} };
  delete metadata.annotations?.[RELAY_PORTS_ANNOTATION];
  if (spec.clusterIP && (spec.clusterIPs ?? []).length === 0) spec.clusterIPs = [spec.clusterIP];
  setIpFamilies(spec, undefined);
  dropUnset(spec);
}

/** Go's types have no difference between these empty values and absent fields. */
export function dropUnset(spec: ServiceSpec): void {
  if (!spec.clusterIP) delete spec.clusterIP;
  if ((spec.clusterIPs ?? []).length === 0) delete spec.clusterIPs;
  if ((spec.ipFamilies ?? []).length === 0) delete spec.ipFamilies;
  if (!spec.healthCheckNodePort) delete spec.healthCheckNodePort;
}

const FAMILIES = ['IPv4', 'IPv6'];

/**
 * Sets `ipFamilyPolicy` and `ipFamilies` for a cluster with IPv4 alone (pkg/registry/core/service/storage/alloc.go
 * initIPFamilyFields). What such a cluster cannot provide is left for validation to refuse.
 */
export function setIpFamilies(spec: ServiceSpec, old: ServiceSpec | undefined): void {
  if (!needsClusterIP(spec)) return;
  const isFree = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (isFree ? 'RequireDualStack' : 'SingleStack');
  if (old && spec.ipFamilyPolicy === 'SingleStack') keepFirstFamily(spec, old);
  if ((spec.ipFamilies ?? []).length === 0 && !spec.clusterIP?.includes(':')) spec.ipFamilies = ['IPv4'];
  const [only, ...more] = spec.ipFamilies ?? [];
  // Endpoints of a headless Service without a selector are the user's, so both families are possible.
  if (isFree && only && more.length === 0 && spec.ipFamilyPolicy !== 'SingleStack')
    spec.ipFamilies = [only, ...FAMILIES.filter((family) => family !== only)];
}

/** Changing only the policy to `SingleStack` states clearly that the second address and family are to be released. */
function keepFirstFamily(spec: ServiceSpec, old: ServiceSpec): void {
  if (spec.clusterIPs && sameTexts(spec.clusterIPs, old.clusterIPs))
    spec.clusterIPs = spec.clusterIPs.slice(0, 1);
  if (spec.ipFamilies && sameTexts(spec.ipFamilies, old.ipFamilies))
    spec.ipFamilies = spec.ipFamilies.slice(0, 1);
}

export function sameTexts(one: readonly string[] = [], other: readonly string[] = []): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}
