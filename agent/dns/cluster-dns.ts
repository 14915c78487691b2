/** The DNS server of the host's Pods, as the agent's assembly starts it. */
import type { Logger } from '../../shared/process/output/logger.js';
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { Random } from '../../shared/process/time/random.js';
import type { ServiceLookup } from '../decisions/services/host-service.js';

export interface ClusterDnsDeps {
  services: ServiceLookup;
  /** Returns true if a Pod of this host is in the namespace. */
  hasNamespace: (namespace: string) => boolean;
  clock: Clock;
  random: Random;
  log: Logger;
}

export interface ClusterDns extends Component {
  /** Address of the server for Pods' resolv.conf. Undefined while it cannot be served; the reason is logged. */
  address(): string | undefined;
}

/** Returns the server. It fails no start: while the address is unavailable, it tries again at intervals. */
export function createClusterDns(_deps: ClusterDnsDeps): ClusterDns {
  throw new Error('not yet');
}
