/** A host that is short of memory, on a real engine: conditions, taint, eviction and replacement, as kubectl shows them. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../harness/leave-out.js';
import { NODE, TourBench } from '../harness/tour-bench.js';
import { untilTrue } from '../harness/until.js';

/** More than any host has: it is short of memory from its start on. */
const SHORT = 'memory.available<1000Ti';

const DAEMON_SET = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: app, image: "app:1"}]
`;
const STATIC = `
apiVersion: v1
kind: Pod
metadata: {name: vital}
spec: {terminationGracePeriodSeconds: 1, containers: [{name: app, image: "app:1"}]}
`;

describe('a host short of memory', { concurrency: 1 }, () => {
  let bench: TourBench | string;
  before(async () => {
    bench = await TourBench.open('docker', { images: ['app:1'] });
  });
  after(async () => {
    if (typeof bench !== 'string') await bench.close();
  });

  test('it says so, evicts what is not critical, and its DaemonSet’s Pod is replaced', async (context) => {
    if (typeof bench === 'string') {
      leaveOut(context, 'a host short of memory', bench);
      return;
    }
    const { kubectl } = bench;
    const condition = (path: string) =>
      `get node ${NODE} -o jsonpath={.status.conditions[?(@.type=="MemoryPressure")].${path}}`;
    mkdirSync(join(bench.dataDir, 'agent', 'manifests'), { recursive: true });
    writeFileSync(join(bench.dataDir, 'agent', 'manifests', 'vital.yaml'), STATIC);
    await kubectl.ok('apply -f -', DAEMON_SET);
    await untilTrue(async () => assert.match(await kubectl.ok('get ds web'), /web +1 +1 +1 +1 +1/));
    await untilTrue(async () => assert.match(await kubectl.ok('get pods'), /vital-master +1\/1 +Running/));
    assert.equal(await kubectl.ok(condition('reason')), 'KubeletHasSufficientMemory');
    const [vital] = await bench.containers.ofPods('vital');
    const first = await kubectl.ok('get pods -l app=web -o jsonpath={.items[0].metadata.name}');

    await bench.up.end('SIGTERM');
    await bench.startUp({ EVERYNODE_AGENT_EVICTION_HARD: SHORT });
    await untilTrue(async () =>
      assert.equal(await kubectl.ok(condition('reason')), 'KubeletHasInsufficientMemory'),
    );
    await untilTrue(async () => {
      const taints = await kubectl.ok(`get node ${NODE} -o jsonpath={.spec.taints}`);
      assert.match(taints, /"NoSchedule","key":"node.kubernetes.io\/memory-pressure"/);
    });
    await untilTrue(async () => {
      const events = await kubectl.ok('get events -o custom-columns=R:.reason,M:.message --no-headers');
      assert.match(
        events,
        /Evicted +The node was low on resource: memory. Threshold quantity: 1000Ti, available: \d+Ki. Container app was using /,
      );
      assert.match(events, /EvictionThresholdMet +Attempting to reclaim memory/);
      assert.match(events, /NodeHasInsufficientMemory/);
      assert.match(
        events,
        new RegExp(`Found failed daemon pod default/${first} on node ${NODE}, will try to kill it`),
      );
    });
    // A DaemonSet's Pods tolerate the taint: another one comes, as upstream.
    await untilTrue(async () => {
      const names = await kubectl.ok('get pods -l app=web -o jsonpath={.items[*].metadata.name}');
      assert.notEqual(names, '');
      assert.doesNotMatch(names, new RegExp(first));
    });
    assert.equal((await bench.containers.ofPods('vital'))[0]?.id, vital?.id, 'a static Pod is critical');
  });
});
