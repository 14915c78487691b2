/** What is wrong with a cluster of coordinators, in sentences that say what to do. Pure. */
import type { EngineHealth } from '../store/replica/replicated-log.js';
import type { MemberView } from './cluster-member.js';

/** A follower that lacks more records needs longer than a failover should take. */
const LAG_RECORDS = 1_000;
/** Members of etcd that survive the loss of one. */
const SAFE_ETCD_MEMBERS = 3;

/** Returns [] for a healthy cluster. */
export function clusterProblems(members: readonly MemberView[], engine: readonly EngineHealth[]): string[] {
  return [...memberProblems(members), ...engineProblems(engine)];
}

function memberProblems(members: readonly MemberView[]): string[] {
  const one = members.map(problemOf).filter((text) => text !== undefined);
  const canLead = members.filter(({ status }) => status && status.state.role !== 'impeded');
  if (canLead.length !== 1) return one;
  const [last] = canLead;
  return [
    ...one,
    `Only ${last?.member.name} (${last?.member.id}) can lead: if it fails, the API is down. Start or join another coordinator.`,
  ];
}

function problemOf({ member, status, lagRecords = 0 }: MemberView): string | undefined {
  const who = `${member.name} (${member.id})`;
  if (!status) {
    return `${who} is down or cannot reach etcd: start it, or remove it with "everynode coordinator remove ${member.id}".`;
  }
  if (status.state.role === 'impeded') {
    return `${who} cannot lead (${status.state.reason}): ${status.state.message}`;
  }
  if (lagRecords <= LAG_RECORDS) return undefined;
  return `${who} lacks ${lagRecords} records of the log: a failover to it takes longer.`;
}

function engineProblems(engine: readonly EngineHealth[]): string[] {
  const problems = engine.flatMap(({ endpoint, error, alarms = [] }) => [
    ...(error === undefined ? [] : [`etcd ${endpoint} does not answer: ${error}`]),
    ...alarms.map((alarm) => `etcd ${endpoint} has the alarm ${alarm}${adviceOn(alarm)}`),
  ]);
  if (engine.length === 0 || engine.length >= SAFE_ETCD_MEMBERS) return problems;
  const count = engine.length === 1 ? 'One etcd endpoint is' : `${engine.length} etcd endpoints are`;
  return [
    ...problems,
    `${count} configured: etcd survives the loss of a machine only with ${SAFE_ETCD_MEMBERS} members or more.`,
  ];
}

function adviceOn(alarm: string): string {
  return alarm === 'NOSPACE'
    ? ': it refuses writes. Compact and defragment it, then run "etcdctl alarm disarm".'
    : ': see the documentation of etcd.';
}

/**
 * Returns why no other member can lead now, or undefined if one can. Otherwise a step-down would leave the fleet without
 * a leader.
 */
export function stepDownObstacle(members: readonly MemberView[], self: string): string | undefined {
  const others = members.filter(({ member }) => member.id !== self);
  if (others.length === 0) return 'there is no other coordinator';
  const ready = others.some(
    ({ status, lagRecords = 0 }) => status?.state.role === 'follower' && lagRecords <= LAG_RECORDS,
  );
  return ready ? undefined : 'no other coordinator is a follower whose database is up to date';
}
