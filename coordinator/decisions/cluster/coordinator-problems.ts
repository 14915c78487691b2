/** What is wrong with the coordinators of a fleet, in sentences for operators. */
import type { ClusterProblem } from '../../../shared/kube/fleet/coordinator-types.js';
import { etcdProblems, type ObservedEndpoint } from './etcd-problems.js';

/** A member and its last report. `coordinator/cluster/cluster-member.ts` describes the fields. */
export interface ObservedMember {
  readonly member: {
    readonly id: string;
    readonly name: string;
    readonly server: string;
    readonly joinedAt: number;
  };
  /** Absent = the member is down or cut off from etcd. */
  readonly status?: {
    readonly version: string;
    readonly logFormat: number;
    readonly appliedRecord: number;
    readonly state:
      | { readonly role: 'leader'; readonly term: number }
      | { readonly role: 'follower' }
      | { readonly role: 'impeded'; readonly reason: string; readonly message: string };
    readonly leaderTrouble?: { readonly server: string; readonly error: string };
  };
  readonly lagRecords?: number;
  /** How far its clock is ahead of the observer's, at least; negative = behind; 0 = no error was noticed. */
  readonly clockSkewMs: number;
}

/** The cluster as its leader sees it, or a command that reads etcd because no coordinator serves. */
export interface ClusterObservation {
  /** Id of the leader; absent = none leads. */
  readonly self?: string | undefined;
  readonly members: readonly ObservedMember[];
  readonly etcd: readonly ObservedEndpoint[];
  /** Age of `members`; more than 0 while etcd does not answer. */
  readonly staleMs: number;
  /** Number of records in the log; absent = not known. */
  readonly logRecords?: number;
}

interface FoundProblems {
  /** By member id. */
  readonly ofMembers: ReadonlyMap<string, readonly ClusterProblem[]>;
  /** Of the cluster as a whole, and of etcd. */
  readonly ofCluster: readonly ClusterProblem[];
}

/** A report is up to 5 s old, and a busy leader appends more than a hundred records in a second. */
const MAX_LAG_RECORDS = 2_000;
/** Certificates and leases tolerate less than this. */
const MAX_CLOCK_SKEW_MS = 5_000;
/** Impediments that end without an operator. */
const TRANSIENT: ReadonlySet<string> = new Set(['SnapshotNeeded', 'Starting']);

export function clusterProblems(observation: ClusterObservation): FoundProblems {
  const { self, members, etcd, staleMs } = observation;
  const newestFormat = Math.max(0, ...members.map(({ status }) => status?.logFormat ?? 0));
  const ofMembers = new Map(
    members.map((each) => [each.member.id, bySeverity(memberProblems(each, self, newestFormat))]),
  );
  const ofCluster = [
    ...(self === undefined ? [noLeader(members)] : redundancyProblems(observation)),
    ...versionProblems(members),
    ...etcdProblems(etcd, staleMs),
  ];
  return { ofMembers, ofCluster: bySeverity(ofCluster) };
}

/** Returns true if the member's database follows the log, so that it can lead next. */
function canTakeOver({ member, status }: ObservedMember, self: string | undefined): boolean {
  return member.id !== self && status?.state.role === 'follower';
}

/** Returns true if the member reports a leadership that has ended, because the observer leads. */
export function isReplacedLeader({ member, status }: ObservedMember, self: string | undefined): boolean {
  return member.id !== self && status?.state.role === 'leader';
}

function memberProblems(
  observed: ObservedMember,
  self: string | undefined,
  newestFormat: number,
): ClusterProblem[] {
  const { member, status, lagRecords = 0, clockSkewMs } = observed;
  const { name } = member;
  if (!status) return member.id === self ? [] : [isDown(name)];
  const found: ClusterProblem[] = [];
  const { state } = status;
  if (state.role === 'impeded') {
    const severity = TRANSIENT.has(state.reason) ? 'warning' : 'error';
    found.push({ severity, reason: state.reason, message: `${name} cannot take over. ${state.message}` });
  }
  if (status.logFormat < newestFormat)
    found.push({
      ...{ severity: 'error', reason: 'LogFormatTooOld' },
      message: `${name} reads format ${status.logFormat} of the log, but a newer version writes format ${newestFormat}. Upgrade ${name}.`,
    });
  if (status.leaderTrouble) {
    const { server, error } = status.leaderTrouble;
    found.push({
      ...{ severity: 'error', reason: 'LeaderUnreachable' },
      message: `${name} cannot connect to the leader at ${server}: ${error}. Clients and hosts that use ${name} get no answer. Check the network between the coordinators and the leader's --advertise.`,
    });
  }
  if (state.role === 'follower' && lagRecords > MAX_LAG_RECORDS)
    found.push({
      ...{ severity: 'warning', reason: 'Lagging' },
      message: `${name} is ${lagRecords} records behind. Check the disk of ${name} and its connection to etcd.`,
    });
  if (Math.abs(clockSkewMs) > MAX_CLOCK_SKEW_MS) found.push(skew(name, clockSkewMs));
  return found;
}

function isDown(name: string): ClusterProblem {
  const message = `${name} is down or cut off from etcd. Start it, or remove it: everynode coordinator remove ${name}`;
  return { severity: 'error', reason: 'Down', message };
}

function skew(name: string, skewMs: number): ClusterProblem {
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  const direction = skewMs > 0 ? 'ahead of' : 'behind';
  const message = `The clock of ${name} is at least ${seconds} s ${direction} the leader's. Synchronize the clocks, for example with chrony.`;
  return { severity: 'warning', reason: 'ClockSkewed', message };
}

/** Why no coordinator leads. Hosts and their containers keep running meanwhile. */
function noLeader(members: readonly ObservedMember[]): ClusterProblem {
  const able = members.filter(({ status }) => status?.state.role === 'follower');
  const names = able.map(({ member }) => member.name).join(', ');
  const message =
    able.length > 0
      ? `No coordinator leads. ${names} can, and does within seconds: repeat this command, then see the log of ${names}.`
      : 'No coordinator leads, and none of those listed can: start one, or correct what keeps one from leading.';
  return { severity: 'error', reason: 'NoLeader', message };
}

/** How many coordinators may fail until none is left that can lead. */
function redundancyProblems({ members, self }: ClusterObservation): ClusterProblem[] {
  if (members.length <= 1)
    return [
      {
        ...{ severity: 'warning', reason: 'OneCoordinator' },
        message:
          'There is only one coordinator, so none can be lost. Add another: everynode coordinator join',
      },
    ];
  const able = members.filter((member) => canTakeOver(member, self));
  if (able.length === 0)
    return [
      {
        ...{ severity: 'error', reason: 'NoStandby' },
        message: 'No other coordinator can take over, so the leader must not be lost. Start or repair one.',
      },
    ];
  const others = members.length - 1;
  const [only] = able;
  if (able.length > 1 || others === 1 || !only) return [];
  const message = `Only ${only.member.name} can take over, so one coordinator can be lost. Start or repair the others.`;
  return [{ severity: 'warning', reason: 'OneStandby', message }];
}

function versionProblems(members: readonly ObservedMember[]): ClusterProblem[] {
  const byVersion = new Map<string, string[]>();
  for (const { member, status } of members) {
    if (!status) continue;
    byVersion.set(status.version, [...(byVersion.get(status.version) ?? []), member.name]);
  }
  if (byVersion.size <= 1) return [];
  const versions = [...byVersion].sort().map(([version, names]) => `${version} on ${names.join(', ')}`);
  const message = `The coordinators run different versions: ${versions.join('; ')}. Finish the upgrade.`;
  return [{ severity: 'warning', reason: 'VersionsDiffer', message }];
}

function bySeverity(problems: readonly ClusterProblem[]): ClusterProblem[] {
  return problems.toSorted((a, b) => Number(a.severity !== 'error') - Number(b.severity !== 'error'));
}
