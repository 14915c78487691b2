/** Data directories of coordinators, and a fleet whose leader serves joins over TLS. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { loadSigningKeys } from '../../../coordinator/access/token-signing-keys.js';
import { loadAdminAccess } from '../../../coordinator/api/auth/admin-kubeconfig.js';
import { ClusterControl } from '../../../coordinator/cluster/cluster-control.js';
import type { MemberView } from '../../../coordinator/cluster/cluster-member.js';
import { createClusterView } from '../../../coordinator/cluster/cluster-view.js';
import { clusterize } from '../../../coordinator/cluster/clusterize.js';
import { CoordinatorFeed } from '../../../coordinator/cluster/coordinator-feed.js';
import type { OpenStorage } from '../../../coordinator/cluster/join/join-cluster.js';
import { readClusterKey } from '../../../coordinator/cluster/keys/sealed-value.js';
import type { MemberFile } from '../../../coordinator/cluster/member-file.js';
import { loadObjectMacKey } from '../../../coordinator/hub/restore/object-signer.js';
import { loadPki } from '../../../coordinator/pki/load-pki.js';
import { loadEncryptionKeys } from '../../../coordinator/store/encryption/encryption-keys.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { startTestApi, type TestApi } from '../api/api-fixture.js';
import { MemoryAuditLog } from '../api/audit-memory.js';
import { temporaryDirectory } from '../basics/temporary-directory.js';
import { MemoryCluster } from '../replica/memory-cluster.js';
import { MemoryEngine } from '../replica/memory-engine.js';

/** Creates what a single coordinator has after its first start, with one object in its database. */
export async function makeCoordinatorData(server = 'https://127.0.0.1:6443'): Promise<string> {
  const dataDir = temporaryDirectory();
  const pki = join(dataDir, 'pki');
  const { ca } = await loadPki(pki, ['localhost'], Date.now());
  await Promise.all([
    loadObjectMacKey(pki),
    loadSigningKeys(pki),
    loadEncryptionKeys(join(pki, 'secrets.key')),
  ]);
  await loadAdminAccess({ dataDir, server, caCertificate: ca.cert });
  const store = await openSqliteStore({
    dataDir,
    clock: systemClock,
    log: silentLogger,
    onFailed: assertNever,
  });
  await store.create('/things/a', Buffer.from('{}'));
  await store.close();
  return dataDir;
}

function assertNever(error: unknown): never {
  throw error;
}

/** Returns the content of a file in a data directory. */
export function contentOf(dataDir: string, name: string): Promise<string> {
  return readFile(join(dataDir, name), 'utf8');
}

export interface ClusterFixture {
  /** The leader's data directory. */
  dataDir: string;
  member: MemberFile;
  engine: MemoryEngine;
  openStorage: OpenStorage;
  control: ClusterControl;
  /** The leader's clock. */
  clock: ManualClock;
  api: TestApi;
  audit: MemoryAuditLog;
  /** The registered members. */
  members(): Promise<readonly MemberView[]>;
  /** Number of times that the leader was told to step down. */
  stepDowns: () => number;
}

/** Starts a fleet with one coordinator, over a simulated etcd. */
export async function startClusterFixture(context: TestContext): Promise<ClusterFixture> {
  const dataDir = await makeCoordinatorData();
  const engine = new MemoryEngine(systemClock);
  const openStorage: OpenStorage = (name) => new MemoryCluster(engine, name).storage;
  const clock = new ManualClock(Date.now());
  const member = await clusterize({
    ...{ dataDir, openStorage, now: Date.now(), name: 'first', server: 'https://first:6443' },
    secretsKeyPath: join(dataDir, 'pki', 'secrets.key'),
  });
  const storage = openStorage(member);
  let stepDowns = 0;
  const control = new ClusterControl({
    ...{ dataDir, self: member, storage, clock },
    clusterKey: await readClusterKey(dataDir),
    term: 1,
    stepDown: () => {
      stepDowns += 1;
    },
  });
  const view = createClusterView(storage, member.memberId);
  const coordinators = new CoordinatorFeed({ view, log: storage, clock: systemClock });
  const audit = new MemoryAuditLog();
  const api: TestApi = await startTestApi({
    ...{ cluster: control, coordinators, audit },
    joinFacts: async () => ({
      ...{ server: api.url, authority: api.pki.ca.cert, serving: api.pki.serving.cert },
      ...{ hasRelease: false, approval: false },
    }),
  });
  context.after(() => api.stop());
  context.after(() => storage.close());
  return {
    ...{ dataDir, member, engine, openStorage, control, clock, api, audit },
    members: () => view.members(),
    stepDowns: () => stepDowns,
  };
}

/** The names and contents of all files but the lock and the database. */
export function stateOf(dataDir: string): Record<string, string> {
  const names = readdirSync(dataDir, { recursive: true, withFileTypes: true });
  const files = names.filter((each) => each.isFile() && !/^(lock|everynode\.db)/.test(each.name));
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name), 'base64'),
    ]),
  );
}
