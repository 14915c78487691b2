/** A coordinator that was given another `--advertise` registers the new address before it follows or leads. */
import type { ClusterKeys } from '../store/replica/replicated-log.js';
import { type ClusterMember, memberKey } from './cluster-member.js';
import { encodeRecord } from './cluster-view.js';
import { moveKubeconfig } from './keys/fleet-key-files.js';
import { type MemberFile, writeMemberFile } from './member-file.js';

/**
 * Returns the member with `server` as its address, after etcd, the kubeconfig and `member.json` have it. A member that was removed
 * keeps its old address. Rejects with LogUnavailable or LogFull.
 */
export async function updateMemberAddress(
  keys: Pick<ClusterKeys, 'get' | 'put'>,
  dataDir: string,
  member: MemberFile,
  server: string,
): Promise<MemberFile> {
  if (member.server === server) return member;
  const key = memberKey(member.memberId);
  const found = await keys.get(key);
  if (!found) return member;
  const record = JSON.parse(found.value.toString()) as ClusterMember;
  const isWritten = await keys.put(key, encodeRecord({ ...record, server }), { version: found.version });
  if (!isWritten) return member;
  await moveKubeconfig(dataDir, server);
  const moved = { ...member, server };
  await writeMemberFile(dataDir, moved);
  return moved;
}
