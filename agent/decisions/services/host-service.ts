/** A Service as the Pods of this host see it, and how DNS and the service proxy look it up. */
import type { ServiceEndpoint, ServiceView } from '../../../shared/kube/services/service-view.js';

/** An endpoint on this host. */
export interface LocalEndpoint extends ServiceEndpoint {
  /** The Pod's own addresses and ports, which clients on this host use without a hostPort. */
  direct: { addresses: string[]; ports: number[] };
}

/** The last view of the hub, and the endpoints that this host derives from its own Pods, also while it is offline. */
export interface HostService {
  view: ServiceView;
  local: LocalEndpoint[];
}

/** `unknown`: this host has no view of the Service and could not get one in time. */
export type ServiceLookupResult =
  | { state: 'known'; service: HostService }
  | { state: 'absent' }
  | { state: 'unknown' };

/** Reads the Services of this host. Implemented by the service table. */
export interface ServiceLookup {
  /**
   * Resolves with the Service. An unknown one is requested from the hub, for at most a second. Resolves only after the
   * service proxy has applied the view, so that the first packet to a new ClusterIP finds its rule. Each call renews the
   * host's interest.
   */
  resolve(namespace: string, name: string): Promise<ServiceLookupResult>;
  /** All Services with a view. */
  all(): Iterable<HostService>;
  /** A number that is different after each change of a Service, so that answers can be cached. */
  readonly revision: number;
  /** True if rules for ClusterIPs are in effect. If not, DNS answers with addresses of endpoints instead. */
  readonly hasServiceProxy: boolean;
}

/** The service proxy, as the table uses it. */
export interface ServiceProxy {
  /**
   * Makes the kernel's rules match these Services. Resolves when they do, or when they cannot. Calls are merged, so it may
   * be called on each change.
   */
  apply(services: readonly HostService[]): Promise<void>;
  /** True if rules can be applied on this host. */
  readonly isEffective: boolean;
}
