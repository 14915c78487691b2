/** A Job's Pod that ends while its host is offline. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finishedAs, type Job } from '../../../shared/kube/jobs/job-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { conditionOf, runCommand } from '../../harness/simulated/simulated-actions.js';
import { startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const BATCH = '/apis/batch/v1/namespaces/default/jobs';

test('a Pod that ends while its host is offline is counted when the host returns', async () => {
  // A short grace period: the test waits for its end.
  const fleet = await startSimulatedFleet(1, 1, { nodeMonitorGracePeriod: '5s' });
  try {
    const spec = { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] };
    await fleet.api.request('POST', BATCH, {
      metadata: { name: 'away' },
      spec: { template: { spec } },
    });
    const job = () => fleet.api.request<Job>('GET', `${BATCH}/away`);
    const pods = async () => (await fleet.api.items<Pod>('/api/v1/namespaces/default/pods')).items;
    await until(async () => (await pods())[0]?.status?.phase === 'Running', {
      timeoutMs: 20_000,
      what: 'the Pod to run',
    });
    assert.equal(await runCommand(fleet, 'offline node-1'), 1);
    const [pod] = await pods();
    const [host] = fleet.hosts.select(({ name }) => name === 'node-1');
    host?.engine.command({ command: 'exit', podUid: pod?.metadata.uid ?? '', code: 0 });
    await until(async () => (await conditionOf(fleet, 'node-1', 'Ready')) !== 'True', {
      timeoutMs: 90_000,
      what: 'the node to be NotReady',
    });
    // The container has ended, which the coordinator cannot know.
    assert.equal((await job()).status?.active, 1);
    await runCommand(fleet, 'online node-1');
    await until(async () => finishedAs(await job()) === 'Complete', {
      timeoutMs: 60_000,
      what: 'the Job to complete',
    });
    assert.equal((await job()).status?.succeeded, 1);
    assert.equal((await pods()).length, 1);
  } finally {
    await fleet.stop();
  }
});
