/** Findings about the etcd of several coordinators. */
import { type Finding, sizeText } from '../../../shared/doctor/finding.js';
import type { EtcdFact, EtcdMemberFact } from './coordinator-facts.js';

/** Each change of the fleet waits for a majority of etcd. */
const SLOW_MS = 100;
/** Quota of etcd without --quota-backend-bytes (server/storage/quota.go, DefaultQuotaBytes). */
const DEFAULT_QUOTA_BYTES = 2 * 1024 ** 3;
/** Above this share of the quota, little time remains until etcd refuses writes. */
const FULL_SHARE = 0.8;

export function etcdFindings(etcd: EtcdFact): Finding[] {
  const check = 'etcd';
  switch (etcd.state) {
    case 'none':
      return [{ check, found: 'not configured: this is a single coordinator', result: 'ok' }];
    case 'refused': {
      const remedy = 'See docs/several-coordinators.md. Without a usable etcd no coordinator serves.';
      return [{ check, found: etcd.reason, result: 'error', remedy }];
    }
    case 'answers':
      return [
        // A member that does not answer has a finding of its own.
        ...etcd.warnings.filter((warning) => !isOfSilentMember(warning, etcd.members)).map(warningFinding),
        ...etcd.members.map(memberFinding),
      ];
  }
}

function isOfSilentMember(warning: string, members: readonly EtcdMemberFact[]): boolean {
  return members.some((member) => 'reason' in member && warning.includes(member.endpoint));
}

function warningFinding(found: string): Finding {
  const remedy =
    'See docs/several-coordinators.md. The coordinators serve as long as a majority of etcd does.';
  return { check: 'etcd', found, result: 'warning', remedy };
}

function memberFinding(member: EtcdMemberFact): Finding {
  const check = 'etcd';
  const { endpoint } = member;
  if ('reason' in member) {
    const remedy = 'Start this member. Without a majority of the members no coordinator serves.';
    return { check, found: `${endpoint}: ${member.reason}`, result: 'warning', remedy };
  }
  const { version, answeredAfter, dbBytes, quotaBytes } = member;
  const quota = quotaBytes || DEFAULT_QUOTA_BYTES;
  const assumed = quotaBytes ? '' : ' (the default quota)';
  const found = `${endpoint}: version ${version}, answered after ${Math.round(answeredAfter)} ms, ${sizeText(dbBytes)} of ${sizeText(quota)}${assumed}`;
  if (dbBytes > FULL_SHARE * quota) {
    const remedy =
      'Run etcdctl defrag on each member, or raise --quota-backend-bytes. A full etcd refuses writes.';
    return { check, found, result: 'warning', remedy };
  }
  if (answeredAfter < SLOW_MS) return { check, found, result: 'ok' };
  const remedy = 'Check the disk and the network of this member: each change waits for a majority of etcd.';
  return { check, found, result: 'warning', remedy };
}
