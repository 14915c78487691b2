/** Durable changes of a store whose log is in etcd, beside a store with SQLite alone, in one process. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { writeMemberFile } from '../../../coordinator/cluster/member-file.js';
import { DATABASE_FILE } from '../../../coordinator/store/data-files.js';
import { openEtcdCluster } from '../../../coordinator/store/replica/etcd/open-etcd-cluster.js';
import { LeaderLog } from '../../../coordinator/store/replica/leader-log.js';
import { startLog } from '../../../coordinator/store/replica/log-position.js';
import type { ClusterStorage } from '../../../coordinator/store/replica/replicated-log.js';
import { openDatabase, prepareSchema } from '../../../coordinator/store/sqlite/sqlite-schema.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import type { Store } from '../../../coordinator/store/store.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import type { EtcdProcesses } from '../../harness/etcd/etcd-process.js';
import type { BenchContext } from '../bench-section.js';
import { openStore, podKeys, podValue, writeAll } from '../internals/store-load.js';
import { pairs, wallMs } from '../paired-runs.js';

const WRITERS = 1_000;
const MEMBER = {
  ...{ memberId: '0a1b2c3d', clusterUID: `bench-${randomUUID()}`, generation: 'first' },
  ...{ server: 'https://127.0.0.1:6443', name: 'bench' },
};
/** 15,000 changes a second. */
const MOST_MICROSECONDS = 67;

/** Uses a log of its own in the etcd of a running cluster. */
export async function measureReplicatedStore(bench: BenchContext, etcd: EtcdProcesses): Promise<void> {
  bench.progress('durable changes of 1,000 writers');
  const storage = openEtcdCluster({ access: etcd.access, name: MEMBER });
  const single = await openStore(join(temporaryDirectory(), 'single'));
  const shared = await openShared(storage);
  const keys = podKeys(bench.quick ? 5_000 : 20_000);
  let turn = 0;
  const each = async (store: Store) =>
    ((await wallMs(() => writeAll(keys, WRITERS, (key) => store.update(key, podValue(++turn))))) * 1_000) /
    keys.length;
  try {
    for (const store of [single, shared])
      await writeAll(keys, WRITERS, (key) => store.create(key, podValue(0)));
    const values = await pairs(
      5,
      () => each(single),
      () => each(shared),
    );
    bench.report({
      ...{ section: 'failover', unit: 'µs', goal: { kind: 'product', most: MOST_MICROSECONDS }, ...values },
      name: 'durable change, 1,000 writers, against SQLite alone (15,000 a second are 67 µs)',
    });
  } finally {
    await single.close();
    await shared.close();
    await storage.close();
  }
}

async function openShared(storage: ClusterStorage): Promise<Store> {
  const leadership = await storage.campaign({ memberId: MEMBER.memberId, bootId: 'bench' });
  if (!leadership) throw new Error('another process leads');
  let log: LeaderLog | undefined;
  const dataDir = temporaryDirectory();
  await makeMember(dataDir);
  const store = await openSqliteStore({
    ...{ dataDir, clock: systemClock, log: silentLogger },
    openReplication: (position, database) => {
      log = new LeaderLog({
        ...{
          log: storage,
          term: leadership.term,
          memberId: MEMBER.memberId,
          position,
          nextRecord: 1,
          database,
        },
        ...{ clock: systemClock, logger: silentLogger },
        onFailed: (error) => {
          throw error;
        },
      });
      return log;
    },
  });
  await log?.start();
  return store;
}

/** Makes the data directory that of a member with an empty database. */
async function makeMember(dataDir: string): Promise<void> {
  const database = openDatabase(join(dataDir, DATABASE_FILE));
  prepareSchema(database);
  startLog(database, MEMBER.generation);
  database.close();
  await writeMemberFile(dataDir, MEMBER);
}
