/** The coordinators of a fleet and their etcd as lines on a terminal. */
import type {
  ClusterProblem,
  Coordinator,
  EtcdEndpoint,
} from '../../../shared/kube/fleet/coordinator-types.js';
import { tableLines } from '../../../shared/process/output/text-table.js';

const MIB = 1_048_576;

/** What belongs to no coordinator while none leads. */
interface ClusterState {
  readonly etcd?: readonly EtcdEndpoint[];
  readonly problems?: readonly ClusterProblem[];
}

export function coordinatorLines(items: readonly Coordinator[], cluster: ClusterState = {}): string[] {
  const etcd = [...(cluster.etcd ?? []), ...items.flatMap(({ status }) => status.etcd ?? [])];
  const problems = [
    ...(cluster.problems ?? []).map(({ severity, message }) => `${severity}: ${message}`),
    ...items.flatMap(({ metadata, status }) =>
      status.problems.map(({ severity, message }) => `${severity}: ${metadata.name}: ${message}`),
    ),
  ];
  return [
    ...tableLines([['NAME', 'ID', 'SERVER', 'ROLE', 'LAG', 'VERSION'], ...items.map(rowOf)]),
    ...(etcd.length > 0
      ? ['', ...tableLines([['ETCD', 'STATE', 'VERSION', 'SIZE'], ...etcd.map(etcdRow)])]
      : []),
    '',
    ...(problems.length > 0 ? problems : ['No problems.']),
  ];
}

function rowOf({ metadata, spec, status }: Coordinator): string[] {
  const { role, lagRecords = '-', version = '-' } = status;
  return [metadata.name, spec.memberId ?? '-', spec.server, role, String(lagRecords), version];
}

function etcdRow({ endpoint, version, isLeader, dbBytes, alarms = [], error }: EtcdEndpoint): string[] {
  const role = isLeader ? 'leader' : 'healthy';
  const state = error !== undefined ? 'error' : (alarms[0] ?? role);
  return [endpoint, state, version ?? '-', dbBytes === undefined ? '-' : `${Math.ceil(dbBytes / MIB)} MiB`];
}
