/** Opens the storage of several coordinators in etcd. Import it only if etcd is configured: it loads gRPC. */
import { type Clock, systemClock } from '../../../../shared/process/time/clock.js';
import type { ClusterStorage } from '../replicated-log.js';
import type { EtcdAccess } from './etcd-access.js';
import { EtcdCluster } from './etcd-cluster.js';
import type { EndpointFailure } from './etcd-connection.js';
import type { LogName } from './etcd-keys.js';
import { GrpcTransport } from './grpc-transport.js';

export interface EtcdOptions {
  readonly access: EtcdAccess;
  readonly name: LogName;
  /** That `checkEtcd` found. Absent = that of the first reply. */
  readonly clusterId?: string | undefined;
  readonly clock?: Clock;
  /** Called when a member did not answer, for the log. */
  readonly onFailure?: EndpointFailure;
}

/** Does not connect yet. Throws an error of the file system if a certificate file cannot be read. */
export function openEtcdCluster({
  access,
  name,
  clusterId,
  clock = systemClock,
  onFailure,
}: EtcdOptions): ClusterStorage {
  return new EtcdCluster(new GrpcTransport(access, clock, clusterId), name, clock, onFailure);
}
