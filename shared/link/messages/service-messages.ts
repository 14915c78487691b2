/** Feature `services`: which Services a host needs, and what it is sent about them. */
import type { RemoteEndpoint, ServiceView } from '../../kube/services/service-view.js';

/**
 * From the agent. `wanted` adds Services to the session's interest, with the digest of the view that the host has
 * (`serviceViewDigest`), or "". The hub answers each with a view or an absence, unless the digest is current. A session
 * starts with no interest, and with one such message, which may be empty. Services are named `namespace/name`. A single
 * endpoint that the view of a large Service lacks is named `namespace/name/hostname`, and has a view of its own.
 */
export interface ServiceInterest {
  kind: 'serviceInterest';
  wanted: [service: string, digest: string][];
  unwanted: string[];
}

/**
 * From the hub: whole views, which replace earlier ones, and Services that do not exist or that the host no longer
 * needs. Unrequested views are of Services that every host needs, such as those with a node port. `absent` may contain
 * `namespace/`: the namespace does not exist, so that the host need not ask for other names in it. External names with a
 * suffix of a search list, such as `example.com.svc.cluster.local`, look like Services of such a namespace.
 */
export interface ServiceViews {
  kind: 'serviceViews';
  set: ServiceView[];
  absent: string[];
}

/** Changes of remote endpoints of one Service. The lists of ids name endpoints that changed only their state. */
export interface ChangedEndpoints {
  /** `namespace/name`. */
  service: string;
  set: RemoteEndpoint[];
  removed: number[];
  ready: number[];
  terminating: number[];
  notReady: number[];
}

/** From the hub: changes since the last view. Changes are gathered, so that a flapping fleet costs few bytes. */
export interface EndpointChanges {
  kind: 'endpointChanges';
  changes: ChangedEndpoints[];
}
