/** Service and ServiceAccount. Services are stored for compatibility with charts, and have no effect yet. */
import type { IntOrString, KubeObject } from './meta.js';

export interface ServicePort {
  name?: string;
  protocol?: string;
  port: number;
  targetPort?: IntOrString;
  nodePort?: number;
}

export interface Service extends KubeObject {
  spec?: {
    type?: string;
    clusterIP?: string;
    clusterIPs?: string[];
    externalIPs?: string[];
    externalName?: string;
    internalTrafficPolicy?: string;
    ports?: ServicePort[];
    selector?: Record<string, string>;
    sessionAffinity?: string;
  };
  status?: object;
}

export interface ServiceAccount extends KubeObject {
  secrets?: { name?: string }[];
  imagePullSecrets?: { name?: string }[];
  /** False: Pods of this account get no token. Default: true. */
  automountServiceAccountToken?: boolean;
}
