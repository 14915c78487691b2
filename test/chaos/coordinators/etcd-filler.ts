/** Fills etcd up to its quota, and makes it writable again as an operator does. */
import { until } from '../../harness/basics/wait-until.js';
import type { EtcdProcesses } from '../../harness/etcd/etcd-process.js';
import type { ChaosCluster } from './chaos-cluster.js';

const PATIENCE_MS = 60_000;
const POLL_MS = 100;
const FILLER_BYTES = 500_000;

/** Calls `whileFull` while etcd has the alarm NOSPACE. Resolves when the alarm has ended. */
export async function fillEtcd(
  { storage, cluster }: ChaosCluster,
  whileFull: () => Promise<void>,
): Promise<void> {
  const filler = (number: number) => `filler/${number}`;
  let number = 0;
  const isFull = () =>
    storage.put(filler(number++), Buffer.alloc(FILLER_BYTES, number % 256)).then(
      () => false,
      (error: Error) => error.name === 'LogFull',
    );
  await until(isFull, { timeoutMs: PATIENCE_MS, pollMs: 5, what: 'NOSPACE of etcd' });
  await whileFull();
  for (let each = 0; each < number; each += 1)
    await until(() => storage.delete(filler(each)).then(() => true, String), {
      ...{ timeoutMs: PATIENCE_MS, pollMs: POLL_MS, what: 'the filler to be deleted' },
    });
  await until(() => disarm(cluster.etcd), {
    ...{ timeoutMs: PATIENCE_MS, pollMs: POLL_MS, what: 'the end of NOSPACE' },
  });
}

/** Resolves with true, or with the reason for another attempt. */
async function disarm(etcd: EtcdProcesses): Promise<boolean | string> {
  try {
    const [status = ''] = (await etcd.ctlInBackground(['get', 'x', '--write-out=json'])).split('\n');
    const { revision } = JSON.parse(status).header as { revision: number };
    // An error: a trim has compacted it already.
    await etcd.ctlInBackground(['compact', String(revision)]).catch(() => undefined);
    for (const endpoint of etcd.endpoints) await etcd.ctlInBackground(['defrag'], [endpoint]);
    await etcd.ctlInBackground(['alarm', 'disarm']);
    return (await etcd.ctlInBackground(['alarm', 'list'])).trim() === '' || 'the alarm is still set';
  } catch (error) {
    return String(error);
  }
}
