/** The laws of the log on a real etcd. */
import { randomUUID } from 'node:crypto';
import { after, before } from 'node:test';
import { openEtcdCluster } from '../../../coordinator/store/replica/etcd/open-etcd-cluster.js';
import { type EtcdProcesses, missingEtcd, startEtcd } from '../../harness/etcd/etcd-process.js';
import { replicatedLogLaws } from '../../laws/replicated-log-laws.js';

const missing = missingEtcd();
let etcd: EtcdProcesses;

before(async () => {
  if (missing === undefined) etcd = await startEtcd();
});
after(() => etcd?.stop());

replicatedLogLaws('etcd', {
  missing,
  open: async () => {
    etcd.ctl(['del', '/everynode/', '--prefix']);
    const name = { clusterUID: randomUUID(), generation: 'first' };
    return () => openEtcdCluster({ access: etcd.access, name });
  },
});
