/**
 * fleet.everynode.dev/v1 ServiceExplanation: the endpoints of a Service, and why a Pod is no endpoint. Never stored.
 */
import type { EndpointState } from '../services/service-view.js';

/** All codes, most useful endpoints first. They are part of the API: never rename one. */
export const ENDPOINT_CODES = [
  /** All hosts use it. */
  'Ready',
  /** Only clients on the Pod's own host use it. */
  'ReadyOnOwnHost',
  /** Used only while no other endpoint is ready. */
  'Terminating',
  'NotReady',
  /** The node is lost, so it is unknown whether the Pod serves. */
  'NodeOffline',
  /** The Pod has none of the Service's ports. */
  'NoSuchPort',
  'NoAddress',
  'NodeNotFound',
  /** The Pod has succeeded or failed. */
  'Ended',
] as const;

export type EndpointCode = (typeof ENDPOINT_CODES)[number];

/** One Pod that the Service's selector matches. */
export interface EndpointExplanation {
  pod: string;
  /** "" while the Pod is not bound. */
  node: string;
  code: EndpointCode;
  /** A clause about the Pod, for example `it is ready`. */
  because: string;
  /** As listed in the EndpointSlices. Absent: it is not listed. */
  listed?: ListedEndpoint;
}

interface ListedEndpoint {
  state: EndpointState;
  /** True if other hosts reach the endpoint. */
  isFleetWide: boolean;
  addresses: string[];
  /** For each port of the Service, in its order. 0: the endpoint does not have it. */
  ports: number[];
}

/**
 * `selector`: the coordinator lists the matching Pods. `manual`: the Service has no selector, so that its endpoints are
 * written by users. `externalName`: a DNS alias, which has no endpoints.
 */
export type EndpointSource = 'selector' | 'manual' | 'externalName';

export interface ServiceExplanation {
  kind: 'ServiceExplanation';
  apiVersion: string;
  namespace: string;
  name: string;
  source: EndpointSource;
  /** A sentence about all endpoints, for example `10 of 12 Pods are ready endpoints.` */
  summary: string;
  /** Number of Pods with each code. Codes without Pods are absent. */
  counts: Partial<Record<EndpointCode, number>>;
  /** In the order of the codes, then of nodes and Pods. Empty unless the source is `selector`. */
  endpoints: EndpointExplanation[];
}

/** Response of `services/NAME/why`. */
export interface ServiceReasonsDocument extends ServiceExplanation {
  /** Names of the connected nodes whose hosts have the Service, sorted. Others have not asked for it. */
  knownBy: string[];
}
