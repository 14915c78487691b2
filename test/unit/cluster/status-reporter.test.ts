/** The status of a member is current while its process runs, and disappears when the process ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusKey } from '../../../coordinator/cluster/cluster-member.js';
import { StatusReporter } from '../../../coordinator/cluster/status-reporter.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { until } from '../../harness/basics/wait-until.js';
import { MemoryCluster } from '../../harness/replica/memory-cluster.js';
import { MemoryEngine } from '../../harness/replica/memory-engine.js';

const MEMBER = 'aaaaaaaa';

function fixture(sync: () => Promise<void> = async () => undefined) {
  const { storage } = new MemoryCluster(new MemoryEngine(systemClock), {
    clusterUID: 'fleet',
    generation: 'first',
  });
  const reporter = new StatusReporter({
    names: () => ['a.test'],
    leaderTrouble: async () => undefined,
    ...{ keys: storage, memberId: MEMBER, version: '1.0.0', clock: new ManualClock(0), log: silentLogger },
    source: () => ({ state: { role: 'follower' }, durableRecord: 7, sync }),
  });
  return { storage, reporter, stored: () => storage.get(statusKey(MEMBER)) };
}

test('a member that is stopped withdraws its status, so that no leader hands over to it', async () => {
  const { storage, reporter, stored } = fixture();
  await reporter.report();
  const { appliedRecord, names } = JSON.parse((await stored())?.value.toString() ?? '{}');
  assert.deepEqual([appliedRecord, names], [7, ['a.test']]);
  await reporter.withdraw();
  assert.equal(await stored(), undefined);
  await storage.close();
});

test('a report that is in progress does not write the status after its withdrawal', async () => {
  let release: (() => void) | undefined;
  const { storage, reporter, stored } = fixture(
    () =>
      new Promise((resolve) => {
        release = resolve;
      }),
  );
  const report = reporter.report();
  const withdrawal = reporter.withdraw();
  await until(() => release !== undefined, { what: 'the report to begin' });
  release?.();
  await Promise.all([report, withdrawal]);
  assert.equal(await stored(), undefined);
  await storage.close();
});
