/** v1 Service. Declares only the fields that this program reads; all others are preserved. */
import type { IntOrString, KubeObject } from '../objects/meta.js';

export interface ServicePort {
  name?: string;
  protocol?: string;
  port: number;
  /** Number or name of a container's port. Default: `port`. */
  targetPort?: IntOrString;
  nodePort?: number;
  appProtocol?: string;
}

export interface ServiceSpec {
  type?: string;
  /** "None" for a headless Service. Absent for ExternalName. */
  clusterIP?: string;
  clusterIPs?: string[];
  externalIPs?: string[];
  externalName?: string;
  externalTrafficPolicy?: string;
  internalTrafficPolicy?: string;
  trafficDistribution?: string;
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  ports?: ServicePort[];
  publishNotReadyAddresses?: boolean;
  selector?: Record<string, string>;
  sessionAffinity?: string;
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
  allocateLoadBalancerNodePorts?: boolean;
  healthCheckNodePort?: number;
  loadBalancerClass?: string;
  loadBalancerIP?: string;
  loadBalancerSourceRanges?: string[];
}

/** Written by load balancers of users. This program has none. */
interface LoadBalancerIngress {
  ip?: string;
  ipMode?: string;
  hostname?: string;
}

export interface Service extends KubeObject {
  spec?: ServiceSpec;
  status?: { loadBalancer?: { ingress?: LoadBalancerIngress[] } };
}

/** Seconds for which a client stays with one endpoint under `sessionAffinity: ClientIP` (pkg/apis/core/v1/defaults.go). */
export const DEFAULT_AFFINITY_SECONDS = 10_800;

/** Value of `spec.clusterIP` of a Service without an address of its own. */
export const HEADLESS = 'None';

export function isHeadless({ clusterIPs }: ServiceSpec): boolean {
  return clusterIPs?.length === 1 && clusterIPs[0] === HEADLESS;
}

/** Every type except ExternalName has an address or is headless. */
export function needsClusterIP({ type }: ServiceSpec): boolean {
  return type !== 'ExternalName';
}

export function needsNodePort({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

/** A load balancer asks this port of each node whether the node has an endpoint (pkg/api/service NeedsHealthCheck). */
export function needsHealthCheckNodePort({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

/** Returns `namespace/name`, under which hosts and the hub refer to a Service. */
export function serviceKey(ref: { namespace?: string; name: string }): string {
  return `${ref.namespace ?? ''}/${ref.name}`;
}
