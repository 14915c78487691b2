/** Makes an empty data directory the first member of an empty etcd. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import { makePrivateDirectory } from '../shared/process/files/private-file.js';
import { systemClock } from '../shared/process/time/clock.js';
import { loadSigningKeys } from './access/token-signing-keys.js';
import { loadAdminAccess } from './api/auth/admin-kubeconfig.js';
import { clusterize } from './cluster/clusterize.js';
import type { MemberFile } from './cluster/member-file.js';
import { secretsKeyPath } from './coordinator-data-dir.js';
import type { CoordinatorSettings } from './coordinator-settings.js';
import { loadObjectMacKey } from './hub/restore/object-signer.js';
import { loadPki } from './pki/load-pki.js';
import { loadTicketKeys } from './pki/tls-ticket-keys.js';
import { memberServer, servingNames } from './server-addresses.js';
import { DATABASE_FILE } from './store/data-files.js';
import { loadEncryptionKeys } from './store/encryption/encryption-keys.js';
import { readEtcdSettings } from './store/replica/etcd/checks/etcd-addresses.js';
import { openEtcdCluster } from './store/replica/etcd/open-etcd-cluster.js';
import { openDatabase, prepareSchema } from './store/sqlite/sqlite-schema.js';

/**
 * `name`: host name of this machine. `etcdClusterId`: see `checkEtcd`. Throws `ExitError` for the directory of a single coordinator, and like
 * `clusterize`.
 */
export async function foundCluster(
  settings: CoordinatorSettings & { etcd: string },
  name: string,
  etcdClusterId: string,
): Promise<MemberFile> {
  const { data: dataDir } = settings;
  const database = join(dataDir, DATABASE_FILE);
  if (existsSync(database)) {
    const advice = `run "everynode coordinator clusterize" with the same --etcd options, then start it again`;
    throw new ExitError(EXIT_CODES.refused, `${dataDir} has the data of a single coordinator: ${advice}.`);
  }
  makePrivateDirectory(dataDir);
  await createKeys(settings);
  const opened = openDatabase(database);
  prepareSchema(opened);
  opened.close();
  return clusterize({
    ...{ dataDir, name, secretsKeyPath: secretsKeyPath(settings, process.env), now: systemClock.now() },
    server: memberServer(settings),
    openStorage: (record) =>
      openEtcdCluster({
        ...{ access: readEtcdSettings(settings), name: record, clusterId: etcdClusterId },
      }),
  });
}

/** Creates the keys that the first start of a single coordinator creates. */
async function createKeys(settings: CoordinatorSettings): Promise<void> {
  const { data, advertise, port } = settings;
  const now = systemClock.now();
  const pki = join(data, 'pki');
  const { trustBundle } = await loadPki(pki, servingNames(advertise ? [advertise] : []), now);
  await loadSigningKeys(pki);
  await loadObjectMacKey(pki);
  await loadEncryptionKeys(secretsKeyPath(settings, process.env));
  await loadTicketKeys(join(data, 'ticket-keys'), now);
  const server = `https://${advertise ?? '127.0.0.1'}:${port}`;
  await loadAdminAccess({ dataDir: data, server, caCertificate: trustBundle });
}
