/**
 * Memory pressure and PID pressure of a host on a real engine: conditions, taint, eviction and replacement, as kubectl
 * shows them.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { shell } from '../../harness/engines/test-images.js';
import { NODE, TourFixture } from '../../harness/hosts/tour-fixture.js';

/** An eviction threshold above any host's memory: the host has memory pressure from its start. */
const SHORT = 'memory.available<1000Ti';

/** Includes the back-off that a DaemonSet's Pod has after repeated failures. */
const RECOVERY_MS = 120_000;

/** An eviction threshold that every host has reached. */
const SHORT_OF_PIDS = 'pid.available<99.999%';

const PRIORITY_CLASS = JSON.stringify({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'important' },
  value: 1000,
});

/** A Pod that runs `processes` processes. */
const crowd = (name: string, processes: number, spec: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      nodeName: NODE,
      ...spec,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'app',
          image: 'app:1',
          command: shell(
            `trap "exit 0" TERM; i=0; while [ $i -lt ${processes} ]; do sleep 3600 & i=$((i+1)); done; wait`,
          ),
        },
      ],
    },
  });

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

describe('node pressure on a real engine', { concurrency: 1 }, () => {
  let fixture: TourFixture | string;
  before(async () => {
    fixture = await TourFixture.open('docker', { images: ['app:1'] });
  });
  after(async () => {
    if (typeof fixture !== 'string') await fixture.close();
  });

  test("a host with memory pressure sets the condition and evicts non-critical Pods, and the DaemonSet's Pod is replaced", async (context) => {
    if (typeof fixture === 'string') {
      leaveOut(context, 'a host short of memory', fixture);
      return;
    }
    const { kubectl } = fixture;
    const condition = (path: string) =>
      `get node ${NODE} -o jsonpath={.status.conditions[?(@.type=="MemoryPressure")].${path}}`;
    mkdirSync(join(fixture.dataDir, 'agent', 'manifests'), { recursive: true });
    writeFileSync(join(fixture.dataDir, 'agent', 'manifests', 'vital.yaml'), STATIC);
    await kubectl.ok('apply -f -', DAEMON_SET);
    await untilPasses(async () => assert.match(await kubectl.ok('get ds web'), /web +1 +1 +1 +1 +1/));
    await untilPasses(async () => assert.match(await kubectl.ok('get pods'), /vital-master +1\/1 +Running/));
    assert.equal(await kubectl.ok(condition('reason')), 'KubeletHasSufficientMemory');
    const [vital] = await fixture.containers.ofPods('vital');
    const first = await kubectl.ok('get pods -l app=web -o jsonpath={.items[0].metadata.name}');

    await fixture.up.end('SIGTERM');
    await fixture.startUp({ EVERYNODE_AGENT_EVICTION_HARD: SHORT });
    await untilPasses(async () =>
      assert.equal(await kubectl.ok(condition('reason')), 'KubeletHasInsufficientMemory'),
    );
    await untilPasses(async () => {
      const taints = await kubectl.ok(`get node ${NODE} -o jsonpath={.spec.taints}`);
      assert.match(taints, /"NoSchedule","key":"node.kubernetes.io\/memory-pressure"/);
    });
    await untilPasses(async () => {
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
    // A DaemonSet's Pods tolerate the taint, so the controller creates a replacement, like kube-controller-manager.
    await untilPasses(async () => {
      const names = await kubectl.ok('get pods -l app=web -o jsonpath={.items[*].metadata.name}');
      assert.notEqual(names, '');
      assert.doesNotMatch(names, new RegExp(first));
    });
    assert.equal((await fixture.containers.ofPods('vital'))[0]?.id, vital?.id, 'a static Pod is critical');
  });

  test('a host with PID pressure evicts the lowest priority first, then the largest process count, and admits no Pod', async (context) => {
    if (typeof fixture === 'string') {
      leaveOut(context, 'a host short of processes', fixture);
      return;
    }
    const { kubectl } = fixture;
    await fixture.up.end('SIGTERM');
    await fixture.startUp();
    await kubectl.ok('apply -f -', crowd('many', 40));
    await kubectl.ok('apply -f -', PRIORITY_CLASS);
    await kubectl.ok('apply -f -', crowd('important', 80, { priorityClassName: 'important' }));
    for (const name of ['many', 'important'])
      await untilPasses(async () => assert.match(await kubectl.ok(`get pod ${name}`), /1\/1 +Running/));
    await untilPasses(async () => assert.match(await kubectl.ok('get ds web'), /web +1 +1 +1 +1 +1/));

    await fixture.up.end('SIGTERM');
    await fixture.startUp({ EVERYNODE_AGENT_EVICTION_HARD: SHORT_OF_PIDS });
    const disrupted = async (name: string): Promise<string> => {
      const path = '{.status.reason},{.status.conditions[?(@.type=="DisruptionTarget")].lastTransitionTime}';
      return kubectl.ok(`get pod ${name} -o jsonpath=${path}`);
    };
    await untilPasses(async () => assert.match(await disrupted('important'), /^Evicted,./));
    assert.ok((await disrupted('many')) < (await disrupted('important')), 'the lower priority went before');
    const node = await kubectl.ok(`get node ${NODE} -o json`);
    assert.match(node, /"reason": "KubeletHasInsufficientPID"/);
    assert.match(node, /"key": "node.kubernetes.io\/pid-pressure"/);
    await untilPasses(async () => {
      const events = await kubectl.ok(
        'get events -o custom-columns=O:.involvedObject.name,M:.message --no-headers',
      );
      assert.match(
        events,
        /many +The node was low on resource: pids\. Threshold quantity: \d+, available: \d+\. /,
      );
      assert.match(events, /Attempting to reclaim pids/);
      assert.match(events, /web-\w+ +The node had condition: \[PIDPressure\]\. /);
    });

    await fixture.up.end('SIGTERM');
    await fixture.startUp();
    await untilPasses(async () => {
      const after = await kubectl.ok(`get node ${NODE} -o json`);
      assert.match(after, /"reason": "KubeletHasSufficientPID"/);
      assert.doesNotMatch(after, /pid-pressure/);
      assert.match(await kubectl.ok('get ds web'), /web +1 +1 +1 +1 +1/);
    }, RECOVERY_MS);
  });
});
