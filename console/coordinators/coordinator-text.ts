/** Texts of the page of coordinators. */
import type {
  Coordinator,
  CoordinatorStatus,
  EtcdEndpoint,
} from '../../shared/kube/fleet/coordinator-types.js';
import { counted, currentFormatTag, t } from '../texts/translate.js';

/** Describes who leads and what can be lost. */
export function clusterSentence(coordinators: readonly Coordinator[]): string {
  const leader = coordinators.find(({ status }) => status.role === 'Leader');
  const name = leader?.metadata.name ?? t('No coordinator');
  if (!coordinators.some(({ spec }) => spec.memberId !== undefined))
    return t(
      '{{name}} is the only coordinator. If its machine is lost, hosts keep running, and a backup must be restored before anything can be changed.',
      { name },
    );
  const term =
    leader?.status.term === undefined ? '' : ` ${t('(term {{term}})', { term: leader.status.term })}`;
  const able = coordinators.filter(({ status }) => status.role === 'Follower').length;
  const others = able === 0 ? t('no others can take over') : counted('{{count}} others can take over', able);
  return t('{{name}} leads{{term}}; {{others}}.', { name, term, others });
}

export function behindText({ role, lagRecords }: CoordinatorStatus): string {
  if (role === 'Leader' || lagRecords === undefined) return '';
  if (lagRecords === 0) return t('up to date');
  return counted('{{number}} records', lagRecords, { number: lagRecords.toLocaleString(currentFormatTag()) });
}

export function clockText({ clockSkewSeconds: seconds }: CoordinatorStatus): string {
  if (seconds === undefined) return '';
  if (seconds === 0) return 'ok';
  const difference = Math.abs(seconds);
  return seconds > 0
    ? t('{{seconds}} s ahead', { seconds: difference })
    : t('{{seconds}} s behind', { seconds: difference });
}

/** Returns the state of an etcd member, with its alarms or the reason why it does not answer. */
export function endpointText({ version, isForeign, isLeader, alarms = [], error }: EtcdEndpoint): string {
  if (isForeign) return `Unusable: ${error ?? 'it belongs to another etcd cluster'}`;
  if (version === undefined) return `No answer: ${error ?? 'unknown error'}`;
  if (alarms.length > 0) return `Alarm ${alarms.join(', ')}`;
  return isLeader ? 'Healthy, leads' : 'Healthy';
}
