/** Preemption on a real engine: by the scheduler, and on the host while the coordinator is down. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { NODE, TourFixture } from '../../harness/hosts/tour-fixture.js';
import { startProgram } from '../../harness/processes/everynode-processes.js';

const VITAL = JSON.stringify({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'vital' },
  value: 1000,
});

const requesting = (cpu: string, priorityClassName?: string) => ({
  terminationGracePeriodSeconds: 1,
  ...(priorityClassName && { priorityClassName }),
  containers: [{ name: 'app', image: 'app:1', resources: { requests: { cpu } } }],
});

const daemonSet = (name: string, spec: object): string =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec },
    },
  });

const staticPod = (name: string, spec: object): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });

function onEngine(kind: EngineKind): void {
  describe(`preemption on ${kind}`, { concurrency: 1 }, () => {
    let fixture: TourFixture | string;
    before(async () => {
      fixture = await TourFixture.open(kind, { images: ['app:1'] });
    });
    after(async () => {
      if (typeof fixture !== 'string') await fixture.close();
    });
    const law = (rule: string, body: (on: TourFixture) => Promise<void>): void => {
      test(rule, async (context) => {
        if (typeof fixture === 'string') leaveOut(context, `preemption on ${kind}`, fixture);
        else await body(fixture);
      });
    };

    /** Returns 60 % of the CPUs that the node offers to Pods: room for one such Pod. */
    const mostCpu = async ({ kubectl }: TourFixture): Promise<string> => {
      const cpu = await kubectl.ok(`get node ${NODE} -o jsonpath={.status.allocatable.cpu}`);
      const milli = cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000;
      return `${Math.round(milli * 0.6)}m`;
    };
    const podsOf = async ({ kubectl }: TourFixture, app: string): Promise<Pod[]> =>
      JSON.parse(await kubectl.ok(`get pods -l app=${app} -o json`)).items;
    const phaseOf = async (on: TourFixture, app: string): Promise<string> =>
      (await podsOf(on, app)).map(({ status }) => status?.phase).join();
    const containersOf = async ({ containers }: TourFixture, pod: string): Promise<number> =>
      (await containers.ofPods(pod)).filter(({ state }) => state === 'running').length;

    law('a DaemonSet of higher priority preempts, and the lower one returns with the room', async (on) => {
      const cpu = await mostCpu(on);
      await on.kubectl.ok('apply -f -', VITAL);
      await on.kubectl.ok('apply -f -', daemonSet('low', requesting(cpu)));
      await on.kubectl.ok('rollout status ds/low --timeout=60s');
      const [victim] = await podsOf(on, 'low');
      assert.ok(victim);

      await on.kubectl.ok('apply -f -', daemonSet('high', requesting(cpu, 'vital')));
      await on.kubectl.ok('rollout status ds/high --timeout=60s');
      await untilPasses(async () => assert.equal(await phaseOf(on, 'low'), 'Pending'));
      assert.equal((await on.containers.ofPods(victim.metadata.name)).length, 0);
      const [waiting] = await podsOf(on, 'low');
      assert.notEqual(waiting?.metadata.uid, victim.metadata.uid);
      const events = await on.kubectl.ok('get events --field-selector reason=Preempted');
      assert.match(events, new RegExp(`pod/${victim.metadata.name} +Preempted by pod \\S+ on node ${NODE}`));
      assert.match(await on.kubectl.ok('get ds low'), /low +1 +1 +0/);

      await on.kubectl.ok('delete ds high');
      await on.kubectl.ok('rollout status ds/low --timeout=60s');
      const [returned] = await podsOf(on, 'low');
      assert.equal(returned?.metadata.uid, waiting?.metadata.uid, 'the Pod that waited was bound');
    });

    law('a critical static Pod preempts while the coordinator is down', async (on) => {
      const cpu = await mostCpu(on);
      const [victim] = await podsOf(on, 'low');
      const name = victim?.metadata.name ?? assert.fail();
      await untilPasses(async () => assert.equal(await containersOf(on, name), 1));
      await on.up.end('SIGKILL');
      await untilPasses(() => assert.deepEqual(on.agents(), []));
      const data = join(on.dataDir, 'agent');
      const args = ['--data', data, '--server', `https://127.0.0.1:${on.port}`];
      args.push('--node-name', NODE, '--runtime', kind);
      const log = join(on.dataDir, 'alone.log');
      const alone = startProgram('agent/everynode-agent.cjs', args, log, on.environment);
      try {
        mkdirSync(join(data, 'manifests'), { recursive: true });
        const vital = staticPod('guard', requesting(cpu, 'system-node-critical'));
        writeFileSync(join(data, 'manifests', 'guard.yaml'), vital);
        await untilPasses(async () => assert.equal(await containersOf(on, 'guard'), 1));
        assert.equal(await containersOf(on, name), 0);
      } finally {
        await alone.end('SIGTERM');
      }

      await on.startUp();
      await untilPasses(async () => {
        const events = await on.kubectl.ok('get events --field-selector reason=FailedDaemonPod');
        assert.match(events, new RegExp(`Found failed daemon pod default/${name} on node ${NODE}`));
        assert.match(await on.kubectl.ok('get pods'), new RegExp(`guard-${NODE} +1/1 +Running`));
        assert.equal(await phaseOf(on, 'low'), 'Pending');
      });
      assert.equal(await containersOf(on, 'guard'), 1);
    });
  });
}

onEngine('docker');
onEngine('podman');
