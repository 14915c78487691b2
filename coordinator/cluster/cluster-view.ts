/** Reads the members and their states from the cluster keys. */
import type {
  ClusterKeys,
  EngineHealth,
  LeaderElection,
  ReplicatedLog,
} from '../store/replica/replicated-log.js';
import {
  CLUSTER_KEY,
  type ClusterMember,
  type ClusterRecord,
  type ClusterView,
  MEMBERS_PREFIX,
  type MemberStatus,
  type MemberView,
  memberKey,
  statusKey,
} from './cluster-member.js';

/** What the view needs of the engine. */
type ViewedStorage = Pick<ClusterKeys, 'list'> &
  Pick<ReplicatedLog, 'bounds'> &
  Pick<LeaderElection, 'leader'> & { health(): Promise<readonly EngineHealth[]> };

const STATUS_PREFIX = statusKey('');

/** `self`: the id of the member that answers. Its methods reject with LogUnavailable. */
export function createClusterView(storage: ViewedStorage, self: string): ClusterView {
  return { self, members: () => readMembers(storage), engine: () => storage.health() };
}

async function readMembers(storage: ViewedStorage): Promise<readonly MemberView[]> {
  const [members, statuses, { next }] = await Promise.all([
    storage.list(MEMBERS_PREFIX),
    storage.list(STATUS_PREFIX),
    storage.bounds(),
  ]);
  const statusOf = new Map(
    statuses.map(({ name, value }) => [name.slice(STATUS_PREFIX.length), parsed<MemberStatus>(value)]),
  );
  return members.flatMap(({ value }): MemberView[] => {
    const member = parsed<ClusterMember>(value);
    if (!member) return [];
    const status = statusOf.get(member.id);
    if (!status) return [{ member }];
    return [{ member, status, lagRecords: Math.max(0, next - 1 - status.appliedRecord) }];
  });
}

/** Returns the fleet that the etcd cluster belongs to, or undefined for an empty etcd. Rejects with LogUnavailable. */
export async function readClusterRecord(keys: Pick<ClusterKeys, 'get'>): Promise<ClusterRecord | undefined> {
  const found = await keys.get(CLUSTER_KEY);
  return found && parsed<ClusterRecord>(found.value);
}

/** Resolves with false if another member has this id. Rejects with LogUnavailable. */
export function registerMember(keys: Pick<ClusterKeys, 'put'>, member: ClusterMember): Promise<boolean> {
  return keys.put(memberKey(member.id), encodeRecord(member), { version: 0 });
}

/** Writes what this member reports. It disappears when the process ends. Rejects with LogUnavailable or LogFull. */
export async function writeStatus(
  keys: Pick<ClusterKeys, 'put'>,
  id: string,
  status: MemberStatus,
): Promise<void> {
  await keys.put(statusKey(id), Buffer.from(JSON.stringify(status)), { isEphemeral: true });
}

/** Returns the address of a member, or undefined after its removal. Rejects with LogUnavailable. */
export async function serverOf(keys: Pick<ClusterKeys, 'get'>, id: string): Promise<string | undefined> {
  const found = await keys.get(memberKey(id));
  return found && parsed<ClusterMember>(found.value)?.server;
}

export function encodeRecord(value: ClusterMember | ClusterRecord): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** A value of another program counts as absent. */
function parsed<T>(value: Buffer): T | undefined {
  try {
    return JSON.parse(value.toString()) as T;
  } catch {
    return undefined;
  }
}
