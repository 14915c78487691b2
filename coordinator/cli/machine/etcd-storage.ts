/** Opens etcd for a command, after the checks that a coordinator makes at its start. */
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printErrorLine } from '../../../shared/process/output/terminal-output.js';
import type { SettingsOf } from '../../../shared/process/settings/settings-schema.js';
import type { CLUSTER_SETTINGS } from '../../cluster/cluster-settings.js';
import type { OpenStorage } from '../../cluster/join/join-cluster.js';
import { type MemberFile, readMemberFile } from '../../cluster/member-file.js';
import { COORDINATOR_SETTINGS } from '../../coordinator-settings.js';
import type { ClusterStorage } from '../../store/replica/replicated-log.js';
import { readSettings } from '../terminal/command-options.js';
import { withClusterErrors } from './cluster-errors.js';
import { serviceConfig } from './stopped-service.js';

type EtcdFlags = Pick<SettingsOf<typeof CLUSTER_SETTINGS>, 'etcd' | 'etcdCa' | 'etcdCert' | 'etcdKey'>;

/** Checks the settings, the files and every endpoint, and prints warnings. Throws `ExitError`. */
export async function checkedStorage(flags: EtcdFlags): Promise<OpenStorage> {
  const { etcd, ...files } = flags;
  if (etcd === undefined) {
    throw new ExitError(
      EXIT_CODES.usage,
      '--etcd is missing: pass the addresses of etcd, such as https://a:2379.',
    );
  }
  return withClusterErrors(async () => {
    // Imported here, because gRPC would slow down the start of all other commands.
    const { readEtcdSettings } = await import('../../store/replica/etcd/checks/etcd-addresses.js');
    const { checkEtcd } = await import('../../store/replica/etcd/checks/etcd-checks.js');
    const { openEtcdCluster } = await import('../../store/replica/etcd/open-etcd-cluster.js');
    const access = readEtcdSettings({ etcd, ...files });
    const { clusterId, warnings } = await checkEtcd(access);
    for (const warning of warnings) printErrorLine(`Warning: ${warning}`);
    return (name) => openEtcdCluster({ access, name, clusterId });
  });
}

/** A directory of a cluster, and its etcd. */
interface MemberStorage {
  readonly member: MemberFile;
  readonly storage: ClusterStorage;
}

/**
 * Runs `work` with the etcd of the coordinator in `dataDir`, without checks, so also without a majority. Returns
 * undefined if the directory belongs to a single coordinator; `noEtcd` returns the result if no settings name its etcd:
 * pass them as `flags`, or in the settings of the installed service. Throws `ExitError`.
 */
export async function withMemberStorage<T>(
  dataDir: string,
  flags: Record<string, unknown>,
  noEtcd: (member: MemberFile) => T,
  work: (opened: MemberStorage) => Promise<T>,
): Promise<T | undefined> {
  return withClusterErrors(async () => {
    const member = await readMemberFile(dataDir);
    if (!member) return undefined;
    const config = flags.config ?? serviceConfig(dataDir);
    const { etcd, ...files } = await readSettings(COORDINATOR_SETTINGS, { ...flags, config });
    if (etcd === undefined) return noEtcd(member);
    // Imported here, because gRPC would slow down the start of all other commands.
    const { readEtcdSettings } = await import('../../store/replica/etcd/checks/etcd-addresses.js');
    const { openEtcdCluster } = await import('../../store/replica/etcd/open-etcd-cluster.js');
    const storage = openEtcdCluster({ access: readEtcdSettings({ etcd, ...files }), name: member });
    try {
      return await work({ member, storage });
    } finally {
      await storage.close();
    }
  });
}
