/** The incremental controllers converge to the result of upstream's full pass, repeated until it is stable. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DaemonNode } from '../../../coordinator/decisions/daemonsets/daemon-node.js';
import type { DaemonSetUpdateStrategy } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { TaintEffect } from '../../../shared/kube/nodes/node-types.js';
import { targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';
import { syncPass } from '../../harness/controllers/sync-pass.js';
import { daemonPodView } from '../../harness/objects/daemon-builders.js';

const NODES = ['n0', 'n1', 'n2', 'n3'];
const STRATEGIES: DaemonSetUpdateStrategy[] = [
  { type: 'OnDelete' },
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%', maxSurge: 0 } },
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 2 } },
];

type Action =
  | { kind: 'image'; image: string }
  | { kind: 'strategy'; strategy: DaemonSetUpdateStrategy }
  | { kind: 'taint'; node: string; effect: TaintEffect | undefined }
  | { kind: 'deletePod'; node: string };

const NODE = fc.constantFrom(...NODES);
const ACTION: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('image' as const), image: fc.constantFrom('app:1', 'app:2', 'app:3') }),
  fc.record({ kind: fc.constant('strategy' as const), strategy: fc.constantFrom(...STRATEGIES) }),
  fc.record({
    kind: fc.constant('taint' as const),
    node: NODE,
    effect: fc.constantFrom<(TaintEffect | undefined)[]>('NoSchedule', 'NoExecute', undefined),
  }),
  fc.record({ kind: fc.constant('deletePod' as const), node: NODE }),
);

/** Upstream's passes over a fleet of Pods that become ready and stop at once. */
class Model {
  readonly taints = new Map<string, TaintEffect>();
  pods: { node: string; image: string; name: string }[] = [];
  #image = 'app:1';
  #strategy: DaemonSetUpdateStrategy = STRATEGIES[1] ?? {};
  #serial = 0;

  act(action: Action): void {
    if (action.kind === 'image') this.#image = action.image;
    if (action.kind === 'strategy') this.#strategy = action.strategy;
    if (action.kind === 'deletePod') this.pods = this.pods.filter(({ node }) => node !== action.node);
    if (action.kind === 'taint' && action.effect) this.taints.set(action.node, action.effect);
    if (action.kind === 'taint' && !action.effect) this.taints.delete(action.node);
    while (this.#pass()) assert.ok(this.#serial < 10_000, 'the model does not come to rest');
  }

  #pass(): boolean {
    const nodes = NODES.map((name) => this.#view(name));
    const spec = { updateStrategy: this.#strategy };
    const { step, deletePods, createOnNodes } = syncPass({ nodes, spec, hash: this.#image, now: 1_000 });
    this.pods = this.pods.filter(({ name }) => !deletePods.includes(name));
    for (const node of createOnNodes) {
      this.pods.push({ node, image: this.#image, name: `pod-${this.#serial++}` });
    }
    return step !== 'none';
  }

  #view(name: string): DaemonNode {
    const effect = this.taints.get(name);
    const pods = this.pods
      .filter(({ node }) => node === name)
      .map((pod) => daemonPodView(pod.name, { hash: pod.image, updated: pod.image === this.#image }));
    return { name, exists: true, shouldRun: !effect, shouldContinueRunning: effect !== 'NoExecute', pods };
  }

  images(): Record<string, string> {
    return Object.fromEntries(this.pods.map(({ node, image }) => [node, image]));
  }
}

async function act(fleet: DaemonFleet, action: Action): Promise<void> {
  switch (action.kind) {
    case 'image':
      return fleet.setImage('web', action.image);
    case 'strategy':
      return fleet.change('web', ({ spec }) => {
        spec.updateStrategy = action.strategy;
      });
    case 'taint':
      return fleet.taint(action.node, action.effect ? [{ key: 'k', effect: action.effect }] : []);
    case 'deletePod':
      for (const pod of fleet.pods()) if (targetNodeOf(pod) === action.node) await fleet.delete(pod);
  }
}

test('after every change the fleet converges to the result of upstream’s passes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(ACTION, { minLength: 1, maxLength: 6 }), async (actions) => {
      const fleet = await DaemonFleet.start(NODES);
      const model = new Model();
      try {
        await fleet.create('web', { updateStrategy: STRATEGIES[1] ?? {} });
        await fleet.settle();
        model.act({ kind: 'image', image: 'app:1' });
        for (const action of actions) {
          await act(fleet, action);
          await fleet.settle();
          model.act(action);
          assert.deepEqual(fleet.images(), model.images());
          assert.equal(fleet.pods().length, model.pods.length);
        }
      } finally {
        await fleet.stop();
      }
    }),
    { numRuns: 25 },
  );
});
