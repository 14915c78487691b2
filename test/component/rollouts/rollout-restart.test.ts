/** A coordinator that has started anew goes on with the hosts that it hears, and judges nobody whom it has yet to hear. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import {
  NODES,
  type RolloutFixture,
  SOAK_MS,
  withPolicy,
} from '../../harness/controllers/rollout-fixture.js';

/** Hosts that were heard since the start; none is away. */
class Hearing {
  readonly #handlers: ((node: string) => void)[] = [];
  readonly #heard = new Map<string, number>();

  /** Hears everybody once so many were asked for. */
  hearsAllAfter: { nodes: number; now: () => number } | undefined;

  isAwaitingResync = (node: string) => {
    if (this.hearsAllAfter && --this.hearsAllAfter.nodes === 0) this.#hear(NODES, this.hearsAllAfter.now());
    return !this.#heard.has(node);
  };
  resyncedAt = (node: string) => this.#heard.get(node);
  onResynced = (handler: (node: string) => void) => void this.#handlers.push(handler);

  /** Nobody is heard any more, as after a start. */
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
  /** There is no coordinator for so long; the next one has heard nobody. */
  const stopFor = async (rolling: RolloutFixture, ms: number) => {
    await rolling.fleet.stopController();
    rolling.fleet.clock.advance(ms);
    hearing.forgetAll();
  };
  /** The new image is on the lab's hosts, which soak. */
  const soakInLab = async (rolling: RolloutFixture) => {
    await hearing.hear(rolling, NODES);
    await rolling.fleet.setImage('web', 'app:2');
    await rolling.expectStatus('Soaking', 'lab', 2);
  };
  const lab = { name: 'lab', nodes: 2, soakSeconds: SOAK_MS / 1000 };

  withPolicy(
    'hosts have their turn as they are heard, and the others hold the wave',
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
    'a soak that has ended meanwhile opens the next wave once its hosts are heard, and does not begin anew',
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
    'who is heard while the hosts are being counted is no longer waited for',
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
    'a new Pod whose time ran out meanwhile is no failure before its host is heard, and has its time from then on',
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
