/** A restarted coordinator continues with the hosts that have reconnected, and fails no host before that. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import {
  NODES,
  type RolloutFixture,
  SOAK_MS,
  withPolicy,
} from '../../harness/controllers/rollout-fixture.js';

/** Hosts that have reconnected since the start. None is offline. */
class Hearing {
  readonly #handlers: ((node: string) => void)[] = [];
  readonly #heard = new Map<string, number>();

  /** All hosts reconnect once this many were queried. */
  hearsAllAfter: { nodes: number; now: () => number } | undefined;

  isAwaitingResync = (node: string) => {
    if (this.hearsAllAfter && --this.hearsAllAfter.nodes === 0) this.#hear(NODES, this.hearsAllAfter.now());
    return !this.#heard.has(node);
  };
  resyncedAt = (node: string) => this.#heard.get(node);
  onResynced = (handler: (node: string) => void) => void this.#handlers.push(handler);

  /** All hosts are awaited again, as after a start. */
  forgetAll(): void {
    this.#heard.clear();
  }

  async hear(rolling: RolloutFixture, nodes: readonly string[]): Promise<void> {
    this.#hear(nodes, rolling.fleet.clock.now());
    await rolling.fleet.settle();
  }

  #hear(nodes: readonly string[], now: number): void {
    for (const node of nodes) {
      this.#heard.set(node, now);
      for (const handler of this.#handlers) handler(node);
    }
  }
}

describe('after a start of the coordinator', () => {
  const hearing = new Hearing();
  const restart = async (rolling: RolloutFixture) => {
    hearing.forgetAll();
    await rolling.fleet.restartController();
    await rolling.fleet.settle();
  };
  /** Stops the coordinator for this time. For the next one no host has reconnected. */
  const stopFor = async (rolling: RolloutFixture, ms: number) => {
    await rolling.fleet.stopController();
    rolling.fleet.clock.advance(ms);
    hearing.forgetAll();
  };
  /** Rolls the new image out to the lab's hosts, which then soak. */
  const soakInLab = async (rolling: RolloutFixture) => {
    await hearing.hear(rolling, NODES);
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Soaking', 'lab', 2);
  };
  const lab = { name: 'lab', nodes: 2, soakSeconds: SOAK_MS / 1000 };

  withPolicy(
    'hosts are updated as they reconnect, and the others block the wave',
    { waves: [{ name: 'lab', nodes: 4, approval: 'Manual' }] },
    async (rolling) => {
      await hearing.hear(rolling, NODES);
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('AwaitingApproval', '', 0);
      await restart(rolling);
      await rolling.approve('lab');
      await rolling.expectStatus('Progressing', 'lab', 0);
      assert.equal(rolling.status?.codes?.AwaitingResync, 4);
      assert.equal(rolling.status?.deferred, 0);
      assert.match(
        rolling.status?.message ?? '',
        /4 nodes to go, 4 of them not reported since the coordinator started/,
      );
      await hearing.hear(rolling, NODES.slice(0, 9));
      const last = NODES[9] ?? '';
      const isInLab =
        rolling.fleet.rollouts.nodeStatus({ namespace: 'default', name: 'web' }, last)?.wave === 'lab';
      await rolling.expectStatus('Progressing', isInLab ? 'lab' : 'rest', isInLab ? 3 : 9);
      await hearing.hear(rolling, [last]);
      await rolling.expectStatus('Completed', 'rest', 10);
    },
    { resynced: hearing },
  );

  withPolicy(
    'a soak that ended meanwhile opens the next wave once its hosts have reconnected, without restarting',
    { waves: [lab] },
    async (rolling) => {
      await soakInLab(rolling);
      await stopFor(rolling, SOAK_MS);
      rolling.fleet.startController();
      await rolling.expectStatus('Soaking', 'lab', 2);
      assert.match(rolling.status?.message ?? '', /2 of its nodes not reported/);
      await hearing.hear(rolling, NODES);
      await rolling.expectStatus('Completed', 'rest', 10);
    },
    { resynced: hearing },
  );

  withPolicy(
    'a host that resyncs while hosts are being counted is not awaited',
    { waves: [lab] },
    async (rolling) => {
      await soakInLab(rolling);
      await stopFor(rolling, SOAK_MS);
      hearing.hearsAllAfter = { nodes: NODES.length, now: () => rolling.fleet.clock.now() };
      rolling.fleet.startController();
      await rolling.expectStatus('Completed', 'rest', 10);
    },
    { resynced: hearing },
  );

  withPolicy(
    'a new Pod whose deadline passed meanwhile does not fail before its host reconnects, and has its time from then on',
    { waves: [lab], failureBudget: { maxFailed: 0, progressDeadlineSeconds: 60 } },
    async (rolling) => {
      await hearing.hear(rolling, NODES);
      rolling.fleet.agents.ready = (pod) => pod.spec.containers[0]?.image !== 'app:2';
      await rolling.fleet.setImage('web', 'app:2');
      await rolling.expectStatus('Progressing', 'lab', 2);
      await stopFor(rolling, 600_000);
      rolling.fleet.startController();
      await rolling.expectStatus('Progressing', 'lab', 2);
      await rolling.makeNewReady();
      await hearing.hear(rolling, NODES);
      await rolling.expectStatus('Soaking', 'lab', 2);
      assert.equal(rolling.status?.failed, 0);
    },
    { resynced: hearing },
  );
});
