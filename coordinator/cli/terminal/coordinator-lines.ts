/** The coordinators of a fleet and their etcd as lines on a terminal. */
import type {
  Coordinator,
  CoordinatorList,
  EtcdEndpoint,
} from '../../../shared/kube/fleet/coordinator-types.js';
import { durationText } from '../../kinds/duration-text.js';
import { tableLines } from './text-table.js';

const MIB = 1_048_576;

/** `now` in ms. */
export function coordinatorLines({ items, etcd, problems }: CoordinatorList, now: number): string[] {
  return [
    ...tableLines([
      ['ID', 'NAME', 'SERVER', 'ROLE', 'LAG', 'VERSION', 'LAST SEEN'],
      ...items.map((item) => rowOf(item, now)),
    ]),
    '',
    ...tableLines([['ETCD', 'STATE', 'VERSION', 'SIZE'], ...etcd.map(etcdRow)]),
    '',
    ...(problems.length > 0 ? problems : ['No problems.']),
  ];
}

function rowOf({ metadata, spec, status }: Coordinator, now: number): string[] {
  const about = [metadata.name, spec.hostName, spec.server, status.role];
  if (status.role === 'down') return [...about, '-', '-', '-'];
  const ageMs = Math.max(0, now - Date.parse(status.lastReportTime));
  return [...about, String(status.lagRecords), status.version, `${durationText(ageMs)} ago`];
}

function etcdRow({ endpoint, version, isLeader, dbBytes, alarms = [], error }: EtcdEndpoint): string[] {
  const role = isLeader ? 'leader' : 'healthy';
  const state = error !== undefined ? 'error' : (alarms[0] ?? role);
  return [endpoint, state, version ?? '-', dbBytes === undefined ? '-' : `${Math.ceil(dbBytes / MIB)} MiB`];
}
