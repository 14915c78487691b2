/** The objects of `kubectl get coordinators`, computed from the reports of the coordinators. */
import type {
  ClusterProblem,
  Coordinator,
  CoordinatorRole,
  CoordinatorStatus,
} from '../../../shared/kube/fleet/coordinator-types.js';
import type { Condition } from '../../../shared/kube/objects/conditions.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import {
  type ClusterObservation,
  clusterProblems,
  isReplacedLeader,
  type ObservedMember,
} from './coordinator-problems.js';

/** Returns one object for each member, by name. */
export function coordinatorObjects(observation: ClusterObservation): Coordinator[] {
  const { members, self, etcd, logRecords } = observation;
  const names = objectNames(members);
  const { ofMembers, ofCluster } = clusterProblems(observation);
  const objects = members.map((observed): Coordinator => {
    const { id, server, joinedAt } = observed.member;
    const isSelf = id === self;
    const own = ofMembers.get(id) ?? [];
    const status = statusOf(observed, self, isSelf ? [...own, ...ofCluster] : own);
    const seen = isSelf ? { etcd, ...(logRecords !== undefined && { logRecords }) } : {};
    return {
      ...{ kind: 'Coordinator', apiVersion: `${FLEET_GROUP}/v1` },
      metadata: {
        ...{ name: names.get(id) ?? id, uid: id },
        creationTimestamp: `${new Date(joinedAt).toISOString().slice(0, 19)}Z`,
      },
      spec: { server, memberId: id },
      status: { ...status, ...seen },
    };
  });
  return objects.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** The host name; a later member with the same host name also gets its id. So no join renames a member. */
function objectNames(members: readonly ObservedMember[]): Map<string, string> {
  const names = new Map<string, string>();
  const used = new Set<string>();
  for (const { member } of members.toSorted((a, b) => a.member.joinedAt - b.member.joinedAt)) {
    const plain = member.name.toLowerCase().replace(/[^a-z0-9.-]/g, '-') || member.id;
    const name = used.has(plain) ? `${plain}-${member.id}` : plain;
    used.add(name);
    names.set(member.id, name);
  }
  return names;
}

function statusOf(
  observed: ObservedMember,
  self: string | undefined,
  problems: readonly ClusterProblem[],
): CoordinatorStatus {
  const { status, lagRecords, clockSkewMs } = observed;
  const role = roleOf(observed, self);
  const conditions = [ready(role, observed), degraded(problems)];
  if (!status) return { role, problems, conditions };
  const { version, appliedRecord, state } = status;
  const lag = role === 'Leader' ? 0 : lagRecords;
  return {
    role,
    version,
    ...(role === 'Leader' && state.role === 'leader' && { term: state.term }),
    appliedRecord,
    ...(lag !== undefined && { lagRecords: lag }),
    clockSkewSeconds: Math.trunc(clockSkewMs / 1_000),
    problems,
    conditions,
  };
}

function roleOf(observed: ObservedMember, self: string | undefined): CoordinatorRole {
  const { member, status } = observed;
  if (member.id === self) return 'Leader';
  if (!status || isReplacedLeader(observed, self)) return 'Down';
  return status.state.role === 'impeded' ? 'Impeded' : 'Follower';
}

function ready(role: CoordinatorRole, { status }: ObservedMember): Condition {
  const type = 'Ready';
  if (role === 'Leader') return { type, status: 'True', reason: 'Leads', message: 'It serves all requests.' };
  if (role === 'Follower')
    return { type, status: 'True', reason: 'FollowsLog', message: 'It can take over from the leader.' };
  if (role === 'Impeded' && status?.state.role === 'impeded')
    return { type, status: 'False', reason: status.state.reason, message: status.state.message };
  const message = 'It has not reported for 15 s, or not since another coordinator became the leader.';
  return { type, status: 'Unknown', reason: 'NoReport', message };
}

function degraded(problems: readonly ClusterProblem[]): Condition {
  const [first] = problems;
  if (!first) return { type: 'Degraded', status: 'False', reason: 'AsExpected', message: '' };
  const message = problems.map((problem) => problem.message).join(' ');
  return { type: 'Degraded', status: 'True', reason: first.reason, message };
}
