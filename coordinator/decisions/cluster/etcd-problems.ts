/** What is wrong with the etcd of several coordinators, in sentences for operators. */
import type { ClusterProblem } from '../../../shared/kube/fleet/coordinator-types.js';

/** `EngineHealth` of `coordinator/store/replica/replicated-log.ts`. */
export interface ObservedEndpoint {
  readonly endpoint: string;
  /** Absent = no answer, or `isForeign`. */
  readonly version?: string;
  /** It belongs to another etcd cluster, so it does not count for a majority. */
  readonly isForeign?: boolean;
  readonly isLeader?: boolean;
  readonly dbBytes?: number;
  readonly alarms?: readonly string[];
  readonly error?: string;
}

/** etcd's default of `--quota-backend-bytes` (server/storage/quota.go `DefaultQuotaBytes`). */
const DEFAULT_QUOTA_BYTES = 2 * 2 ** 30;
/** The log window and its garbage need a small part of the quota, so a larger file means that compaction fails. */
const MAX_DB_BYTES = 0.8 * DEFAULT_QUOTA_BYTES;
const OLDEST_VERSION = [3, 4] as const;

/** `staleMs`: time for which etcd has not answered the leader; 0 = it answers. */
export function etcdProblems(endpoints: readonly ObservedEndpoint[], staleMs: number): ClusterProblem[] {
  const up = endpoints.filter(({ version }) => version !== undefined);
  const foreign = endpoints.filter(({ isForeign }) => isForeign).map(foreignProblem);
  return [
    ...quorumProblems(endpoints, up, staleMs),
    ...foreign,
    ...up.flatMap(endpointProblems),
    ...versionProblems(up),
  ];
}

function quorumProblems(
  endpoints: readonly ObservedEndpoint[],
  up: readonly ObservedEndpoint[],
  staleMs: number,
): ClusterProblem[] {
  if (endpoints.length === 0) return staleMs > 0 ? [unavailable(staleMs)] : [];
  const quorum = Math.floor(endpoints.length / 2) + 1;
  const counted = `${up.length} of ${endpoints.length} members of etcd answer`;
  if (up.length < quorum)
    return [error('EtcdNoQuorum', `${counted}, and ${quorum} must: writes are refused. Start the others.`)];
  const found = staleMs > 0 ? [unavailable(staleMs)] : [];
  const isCritical = up.length === quorum;
  for (const { endpoint, error: cause, version, isForeign } of endpoints) {
    if (version !== undefined || isForeign) continue;
    const risk = isCritical ? 'If one more fails, writes stop. ' : '';
    const message = `The etcd member ${endpoint} does not answer: ${cause ?? 'unknown error'}. ${risk}Start or replace it.`;
    found.push(warning('EtcdMemberDown', message));
  }
  if (endpoints.length < 3) {
    const message = `etcd has ${endpoints.length === 1 ? 'one member' : 'two members'}, so none can be lost. Use three members on three machines.`;
    found.push(warning('EtcdNotRedundant', message));
  }
  return found;
}

function foreignProblem({ endpoint, error: cause = '' }: ObservedEndpoint): ClusterProblem {
  const message = `The etcd member ${endpoint} cannot be used: ${cause}. Correct --etcd on the coordinators, or add it to the cluster of the others with an empty data directory.`;
  return error('EtcdForeignMember', message);
}

function unavailable(staleMs: number): ClusterProblem {
  const seconds = Math.max(1, Math.round(staleMs / 1_000));
  const message = `etcd has not answered the leader for ${seconds} s: writes are refused, and this status is old. Check etcd and the network.`;
  return error('EtcdUnavailable', message);
}

function endpointProblems({ endpoint, version = '', dbBytes = 0, alarms = [] }: ObservedEndpoint) {
  const found: ClusterProblem[] = [];
  for (const alarm of alarms) {
    if (alarm === 'NOSPACE') {
      const message = `The etcd member ${endpoint} has no space left (NOSPACE): writes are refused. Free the disk or raise --quota-backend-bytes, run "etcdctl defrag", then "etcdctl alarm disarm".`;
      found.push(error('EtcdNoSpace', message));
    } else {
      const message = `The etcd member ${endpoint} has the alarm ${alarm}. See the documentation of etcd, and replace the member.`;
      found.push(error('EtcdAlarm', message));
    }
  }
  if (dbBytes > MAX_DB_BYTES) {
    const megabytes = Math.round(dbBytes / 2 ** 20);
    const message = `The database of the etcd member ${endpoint} has ${megabytes} MiB; etcd's default quota is 2,048 MiB. Run "etcdctl defrag", and check that no other program uses this etcd.`;
    found.push(warning('EtcdDatabaseLarge', message));
  }
  if (isTooOld(version)) {
    const message = `The etcd member ${endpoint} has version ${version}; 3.4 to 3.6 are supported. Upgrade it.`;
    found.push(error('EtcdTooOld', message));
  }
  return found;
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_VERSION;
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}

function versionProblems(up: readonly ObservedEndpoint[]): ClusterProblem[] {
  const versions = new Set(up.map(({ version }) => version));
  if (versions.size <= 1) return [];
  const each = up.map(({ endpoint, version }) => `${version} at ${endpoint}`).join(', ');
  return [
    warning(
      'EtcdVersionsDiffer',
      `The members of etcd have different versions: ${each}. Finish the upgrade.`,
    ),
  ];
}

function error(reason: string, message: string): ClusterProblem {
  return { severity: 'error', reason, message };
}

function warning(reason: string, message: string): ClusterProblem {
  return { severity: 'warning', reason, message };
}
