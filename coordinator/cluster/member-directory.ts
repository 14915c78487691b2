/** Members and their status in the cluster's keys. */
import type { ClusterKeys, ClusterStorage, EngineHealth } from '../store/replica/replicated-log.js';
import {
  type ClusterMember,
  type ClusterView,
  type MemberStatus,
  type MemberView,
  memberKey,
  statusKey,
} from './cluster-member.js';

export function writeMember(keys: ClusterKeys, member: ClusterMember): Promise<boolean> {
  return keys.put(memberKey(member.id), Buffer.from(JSON.stringify(member)));
}

export function writeStatus(keys: ClusterKeys, id: string, status: MemberStatus): Promise<boolean> {
  return keys.put(statusKey(id), Buffer.from(JSON.stringify(status)), { isEphemeral: true });
}

export class MemberDirectory implements ClusterView {
  readonly #storage: ClusterStorage;

  constructor(
    storage: ClusterStorage,
    readonly self: string,
  ) {
    this.#storage = storage;
  }

  /** Rejects with `LogUnavailable`. */
  async members(): Promise<readonly MemberView[]> {
    const [members, statuses, { next }] = await Promise.all([
      this.#storage.list('members/'),
      this.#storage.list('status/'),
      this.#storage.bounds(),
    ]);
    const statusOf = new Map(
      statuses.map(({ name, value }) => [name, JSON.parse(value.toString()) as MemberStatus]),
    );
    return members.map(({ value }) => {
      const member = JSON.parse(value.toString()) as ClusterMember;
      const status = statusOf.get(statusKey(member.id));
      return { member, ...(status && { status, lagRecords: Math.max(0, next - 1 - status.appliedRecord) }) };
    });
  }

  engine(): Promise<readonly EngineHealth[]> {
    return this.#storage.health();
  }
}
