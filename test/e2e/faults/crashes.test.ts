/** Kills every process with SIGKILL during its work on a real Docker: one Pod a node, no leftovers, no lost writes. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { pause, untilPasses } from '../../harness/basics/wait-until.js';
import { CrashFixture, NODES } from '../../harness/processes/crash-fixture.js';

const MANIFEST = JSON.stringify({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'app' },
  spec: {
    selector: { matchLabels: { app: 'app' } },
    updateStrategy: { rollingUpdate: { maxUnavailable: '100%' } },
    template: {
      metadata: { labels: { app: 'app' } },
      spec: { terminationGracePeriodSeconds: 5, containers: [{ name: 'main', image: 'app:1' }] },
    },
  },
});

/** When to kill after the start of a rollout, ms: before, during and after the engine's work. */
const MOMENTS_MS = [20, 150, 400];
/** The requirement: after a reboot of the host its Pods run again within this time after the engine's start. */
const RETURN_MS = 5_000;
/** Upper bound for the reconnect back-off of an agent after repeated kills of the coordinator. */
const RECONNECT_MS = 90_000;

describe('kills of programs and engines on Docker', { concurrency: 1 }, () => {
  let fixture: CrashFixture | string;
  let rollout = 1;

  before(async () => {
    fixture = await CrashFixture.open('docker', ['app:1', 'app:2']);
    if (typeof fixture !== 'string') await fixture.kubectl.ok('apply -f -', MANIFEST);
  });
  after(async () => {
    if (typeof fixture !== 'string') await fixture.close();
  });

  const law = (rule: string, body: (fixture: CrashFixture) => Promise<void>): void => {
    test(rule, async (context) => {
      if (typeof fixture === 'string') return leaveOut(context, 'crashes on docker', fixture);
      await isWhole(fixture);
      await body(fixture);
    });
  };

  /**
   * The rollout is complete, each node runs one container of it, and the engine has no other container of Everynode.
   */
  const isWhole = async ({ kubectl, containers }: CrashFixture): Promise<void> => {
    await kubectl.ok('rollout status ds/app --timeout=60s');
    const { items }: { items: Pod[] } = JSON.parse(await kubectl.ok('get pods -o json'));
    const nodes = items.map(({ spec, metadata }) => [spec.nodeName, metadata.uid]);
    assert.deepEqual(nodes.map(([node]) => node).sort(), [...NODES], 'pods by node');
    await untilPasses(async () => {
      const present = await containers.all();
      const of = (uid: string | undefined) => present.filter(({ podUID }) => podUID === uid);
      for (const [node, uid] of nodes) {
        const running = of(uid).filter(({ state }) => state === 'running').length;
        assert.equal(running, 1, `containers that run on ${node}`);
      }
      const uids = new Set(nodes.map(([, uid]) => uid));
      assert.deepEqual(
        present.filter(({ podUID }) => !uids.has(podUID ?? '')),
        [],
        'leftovers',
      );
    }).catch(async (error: Error) => {
      // These tell a replaced Pod from a container that never started.
      const seen = { containers: await containers.all(), pods: await kubectl.ok('get pods -o yaml') };
      throw new Error(`${error.message}\n${JSON.stringify(seen.containers)}\n${seen.pods}`);
    });
  };
  const beginRollout = async ({ kubectl }: CrashFixture): Promise<void> => {
    rollout = rollout === 1 ? 2 : 1;
    await kubectl.ok(`set image ds/app main=app:${rollout}`);
  };
  /** Starts a rollout and waits for progress, which shows that the agents work again. */
  const beginRolloutSeen = async (fixture: CrashFixture): Promise<void> => {
    await beginRollout(fixture);
    await isWhole(fixture);
  };
  const startTimes = async (fixture: CrashFixture): Promise<string[]> => {
    const running = await fixture.running();
    return (await Promise.all(running.map(({ id }) => fixture.containers.startedAt(id)))).sort();
  };

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    law(`an agent that ends by ${signal} and restarts changes no running container`, async (fixture) => {
      const before = await startTimes(fixture);
      await fixture.endAgent('n1', signal);
      assert.deepEqual(await startTimes(fixture), before);
      fixture.startAgent('n1');
      await beginRolloutSeen(fixture);
      assert.equal((await startTimes(fixture)).filter((time) => before.includes(time)).length, 0);
    });
  }
  for (const moment of MOMENTS_MS) {
    law(
      `an agent that is killed ${moment} ms into a rollout completes it after its restart`,
      async (fixture) => {
        await beginRollout(fixture);
        await pause(moment);
        await fixture.endAgent('n1', 'SIGKILL');
        fixture.startAgent('n1');
        await isWhole(fixture);
      },
    );

    law(
      `a rollout completes after a kill of the coordinator ${moment} ms after its start`,
      async (fixture) => {
        await beginRollout(fixture);
        await pause(moment);
        await fixture.killCoordinator();
        await fixture.startCoordinator();
        await isWhole(fixture);
      },
    );

    law(`a rollout completes after a kill of an engine ${moment} ms after its start`, async (fixture) => {
      await beginRollout(fixture);
      await pause(moment);
      await fixture.engine.kill();
      await fixture.engine.start();
      await isWhole(fixture);
    });
  }

  law('a rollout completes after a kill of agents, coordinator and engine together', async (fixture) => {
    await beginRollout(fixture);
    await pause(MOMENTS_MS[1] ?? 0);
    await Promise.all([
      fixture.killCoordinator(),
      fixture.engine.kill(),
      ...NODES.map((node) => fixture.endAgent(node, 'SIGKILL')),
    ]);
    await fixture.engine.start();
    for (const node of NODES) fixture.startAgent(node);
    await fixture.startCoordinator();
    await isWhole(fixture);
  });

  law('a container restarts in the same Pod after a kill of its first process', async (fixture) => {
    const [victim] = await fixture.running();
    assert.ok(victim);
    process.kill(await fixture.containers.processOf(victim.id), 'SIGKILL');
    await untilPasses(async () => {
      const next = (await fixture.running()).find(({ podUID }) => podUID === victim.podUID);
      assert.ok(next && next.id !== victim.id);
    });
    const restarts = `get pod ${victim.podName} -o jsonpath={.status.containerStatuses[0].restartCount}`;
    await untilPasses(async () => assert.equal(await fixture.kubectl.ok(restarts), '1'));
    const reason = `get pod ${victim.podName} -o jsonpath={..lastState.terminated.exitCode}`;
    assert.equal(await fixture.kubectl.ok(reason), '137');
  });

  law("without a coordinator, Pods run within 5 s of the engine's start", async (fixture) => {
    await fixture.killCoordinator();
    await fixture.engine.kill();
    await fixture.engine.start();
    const from = performance.now();
    await untilPasses(async () => assert.equal((await fixture.running()).length, NODES.length), RETURN_MS);
    const took = performance.now() - from;
    await fixture.startCoordinator();
    assert.ok(took < RETURN_MS);
  });

  law('agents that start without a coordinator start their Pods', async (fixture) => {
    await beginRolloutSeen(fixture);
    await fixture.killCoordinator();
    for (const node of NODES) await fixture.endAgent(node, 'SIGKILL');
    await fixture.engine.kill();
    await fixture.engine.start();
    const from = performance.now();
    for (const node of NODES) fixture.startAgent(node);
    await untilPasses(async () => assert.equal((await fixture.running()).length, NODES.length), RETURN_MS);
    const took = performance.now() - from;
    await fixture.startCoordinator();
    assert.ok(took < RETURN_MS);
  });

  law('an acknowledged write survives kill -9 of the coordinator', async (fixture) => {
    for (const name of ['a', 'b', 'c']) {
      await fixture.kubectl.ok(`create configmap ${name} --from-literal=x=${name}`);
      await fixture.killCoordinator();
      await fixture.startCoordinator();
      assert.equal(await fixture.kubectl.ok(`get configmap ${name} -o jsonpath={.data.x}`), name);
    }
  });

  law('a deleted DaemonSet leaves no container after all kills', async (fixture) => {
    await fixture.kubectl.ok('delete ds app');
    // After repeated kills of the coordinator the agents wait up to a minute before they reconnect.
    await untilPasses(async () => assert.deepEqual(await fixture.containers.all(), []), RECONNECT_MS);
  });
});
