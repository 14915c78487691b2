/** Texts of the page of coordinators. */
import type {
  Coordinator,
  CoordinatorStatus,
  EtcdEndpoint,
} from '../../shared/kube/fleet/coordinator-types.js';

/** Describes who leads and what can be lost. */
export function clusterSentence(coordinators: readonly Coordinator[]): string {
  const leader = coordinators.find(({ status }) => status.role === 'Leader');
  const name = leader?.metadata.name ?? 'No coordinator';
  if (!coordinators.some(({ spec }) => spec.memberId !== undefined))
    return `${name} is the only coordinator. If its machine is lost, hosts keep running, and a backup must be restored before anything can be changed.`;
  const term = leader?.status.term === undefined ? '' : ` (term ${leader.status.term})`;
  const able = coordinators.filter(({ status }) => status.role === 'Follower').length;
  const others = able === 1 ? '1 other can take over' : `${able || 'no'} others can take over`;
  return `${name} leads${term}; ${others}.`;
}

export function behindText({ role, lagRecords }: CoordinatorStatus): string {
  if (role === 'Leader' || lagRecords === undefined) return '';
  if (lagRecords === 0) return 'up to date';
  return `${lagRecords.toLocaleString('en')} ${lagRecords === 1 ? 'record' : 'records'}`;
}

export function clockText({ clockSkewSeconds: seconds }: CoordinatorStatus): string {
  if (seconds === undefined) return '';
  if (seconds === 0) return 'ok';
  return `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`;
}

/** Returns the state of an etcd member, with its alarms or the reason why it does not answer. */
export function endpointText({ version, isForeign, isLeader, alarms = [], error }: EtcdEndpoint): string {
  if (isForeign) return `Unusable: ${error ?? 'it belongs to another etcd cluster'}`;
  if (version === undefined) return `No answer: ${error ?? 'unknown error'}`;
  if (alarms.length > 0) return `Alarm ${alarms.join(', ')}`;
  return isLeader ? 'Healthy, leads' : 'Healthy';
}
