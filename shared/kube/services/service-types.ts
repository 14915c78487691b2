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
  ports?: ServicePort[];
  publishNotReadyAddresses?: boolean;
  selector?: Record<string, string>;
  sessionAffinity?: string;
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
}

export interface Service extends KubeObject {
  spec?: ServiceSpec;
  status?: object;
}

/** Seconds for which a client stays with one endpoint under `sessionAffinity: ClientIP` (pkg/apis/core/v1/defaults.go). */
export const DEFAULT_AFFINITY_SECONDS = 10_800;

/** Value of `spec.clusterIP` of a Service without an address of its own. */
export const HEADLESS = 'None';

/** Returns `namespace/name`, under which hosts and the hub refer to a Service. */
export function serviceKey(ref: { namespace?: string; name: string }): string {
  return `${ref.namespace ?? ''}/${ref.name}`;
}
