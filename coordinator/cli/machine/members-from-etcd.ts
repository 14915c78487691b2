/** The coordinators of a fleet as etcd has them, for a machine on which no coordinator's API answers. */
import type { CoordinatorList } from '../../../shared/kube/fleet/coordinator-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { createClusterView } from '../../cluster/cluster-view.js';
import type { MemberFile } from '../../cluster/member-file.js';
import { defaultDataDir } from '../../coordinator-settings.js';
import { coordinatorObjects } from '../../decisions/cluster/coordinator-objects.js';
import { clusterProblems } from '../../decisions/cluster/coordinator-problems.js';
import type { ClusterStorage } from '../../store/replica/replicated-log.js';
import { withMemberStorage } from './etcd-storage.js';

/**
 * Returns undefined if this machine is no member of a cluster, or has no settings of etcd: pass them as `flags`, or in
 * the settings of the installed service. Throws `ExitError` if they cannot be used, such as for lack of rights.
 */
export async function membersFromEtcd(flags: Record<string, unknown>): Promise<CoordinatorList | undefined> {
  const dataDir = typeof flags.data === 'string' ? flags.data : defaultDataDir();
  return withMemberStorage<CoordinatorList | undefined>(
    dataDir,
    flags,
    () => undefined,
    ({ storage, member }) => listMembers(storage, member),
  );
}

/** Without a majority of etcd only its members are known. */
async function listMembers(storage: ClusterStorage, self: MemberFile): Promise<CoordinatorList> {
  const view = createClusterView(storage, self.memberId);
  const [etcd, read] = await Promise.all([
    view.engine(),
    Promise.all([view.members(), storage.leader()]).catch((error: Error) => error),
  ]);
  const list = { kind: 'CoordinatorList', apiVersion: `${FLEET_GROUP}/v1`, metadata: {}, etcd } as const;
  if (read instanceof Error) {
    const message = `The coordinators cannot be read: ${read.message}.`;
    const unreadable = { severity: 'error', reason: 'EtcdUnavailable', message } as const;
    const { ofCluster } = clusterProblems({ members: [], etcd, staleMs: 0 });
    const ofEtcd = ofCluster.filter(({ reason }) => reason !== 'NoLeader');
    return { ...list, items: [], problems: [unreadable, ...ofEtcd] };
  }
  const [members, leader] = read;
  const observed = members.map((each) => ({ ...each, clockSkewMs: 0 }));
  const observation = { self: leader?.memberId, members: observed, etcd, staleMs: 0 };
  // Problems and etcd of the cluster belong to the leader, if there is one.
  const items = coordinatorObjects(observation);
  if (leader) return { ...list, etcd: [], items };
  return { ...list, items, problems: clusterProblems(observation).ofCluster };
}
