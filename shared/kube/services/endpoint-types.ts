/** v1 Endpoints and discovery.k8s.io/v1 EndpointSlice. Both are written for Services with a selector. */
import type { ObjectReference } from '../objects/event-types.js';
import type { KubeObject } from '../objects/meta.js';

/** A port of an EndpointSlice or of an Endpoints subset. */
export interface EndpointPort {
  name?: string;
  port?: number;
  protocol?: string;
  appProtocol?: string;
}

export interface EndpointConditions {
  ready?: boolean;
  serving?: boolean;
  terminating?: boolean;
}

/** One member of an EndpointSlice. */
export interface Endpoint {
  addresses: string[];
  conditions?: EndpointConditions;
  /** Labels of an earlier version of the API. */
  deprecatedTopology?: Record<string, string>;
  hints?: { forZones?: { name: string }[]; forNodes?: { name: string }[] };
  hostname?: string;
  nodeName?: string;
  targetRef?: ObjectReference;
  zone?: string;
}

export interface EndpointSlice extends KubeObject {
  addressType: string;
  endpoints: Endpoint[] | null;
  ports?: EndpointPort[] | null;
}

/** One member of an Endpoints subset. */
export interface EndpointAddress {
  ip: string;
  hostname?: string;
  nodeName?: string;
  targetRef?: ObjectReference;
}

export interface EndpointSubset {
  addresses?: EndpointAddress[];
  notReadyAddresses?: EndpointAddress[];
  ports?: EndpointPort[];
}

export interface Endpoints extends KubeObject {
  subsets?: EndpointSubset[];
}

/** Label of an EndpointSlice with the name of its Service. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
/** Label of an EndpointSlice with the name of the controller that writes it. */
export const MANAGED_BY_LABEL = 'endpointslice.kubernetes.io/managed-by';
/** Label of an EndpointSlice and Endpoints of a Service without an address of its own. */
export const HEADLESS_LABEL = 'service.kubernetes.io/headless';
/** Annotation with the time of the change of a Pod that led to the last write. */
export const TRIGGER_TIME_ANNOTATION = 'endpoints.kubernetes.io/last-change-trigger-time';
