/** A DaemonSet with a RolloutPolicy: the controller over a registry, with simulated agents. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeKind, podKind, rolloutKind, rolloutPolicyKind } from '../../../coordinator/kinds/index.js';
import type { ConditionStatus } from '../../../shared/kube/objects/conditions.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import type { SteeringVerb } from '../../../shared/kube/rollouts/steering-requests.js';
import { until } from '../basics/wait-until.js';
import { DaemonFleet, type FleetOptions } from './daemon-fleet.js';

export const NODES = Array.from({ length: 10 }, (_, index) => `n${index}`);
export const REF = { namespace: 'default', name: 'web' };
export const SOAK_MS = 60_000;

/** True if the Pod has the new release. */
export const isNew = (pod: Pod) => pod.spec.containers[0]?.image === 'app:2';

/** The state of the rollout, and methods for the actions of its users. */
export class RolloutFixture {
  constructor(readonly fleet: DaemonFleet) {}

  get status(): RolloutStatus | undefined {
    return this.fleet.informers.rollouts.get(REF)?.status;
  }

  /** Returns the number of nodes with each image. */
  get images(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const image of Object.values(this.fleet.images())) counts[image] = (counts[image] ?? 0) + 1;
    return counts;
  }

  /** Asserts phase, open wave, and the number of nodes with the new image. */
  async expectStatus(phase: string, wave: string, updated: number): Promise<void> {
    await this.fleet.settle();
    await until(() => {
      const found = [this.status?.phase, this.status?.wave, this.images['app:2'] ?? 0].join();
      return found === [phase, wave, updated].join() || `${found} ${this.status?.message}`;
    });
    await this.fleet.settle();
    assert.equal(this.images['app:2'] ?? 0, updated, 'and it stays so');
  }

  async advance(ms: number): Promise<void> {
    this.fleet.clock.advance(ms);
    await this.fleet.settle();
  }

  async policy(change: (spec: RolloutPolicySpec) => void): Promise<void> {
    await this.fleet.registry.modify(
      rolloutPolicyKind,
      { namespace: 'default', name: 'gentle' },
      ({ spec }): undefined => {
        change(spec);
      },
    );
    await this.fleet.settle();
  }

  /**
   * Acts as `kubectl annotate rollout web fleet.everynode.dev/VERB=VALUE fleet.everynode.dev/reason=REASON` run by ann.
   */
  async steer(verb: SteeringVerb, value = '', reason?: string): Promise<void> {
    const asked = ({ metadata }: { metadata: { annotations?: Record<string, string> } }): undefined => {
      metadata.annotations = {
        [`${FLEET_GROUP}/${verb}`]: value,
        ...(reason === undefined ? {} : { [`${FLEET_GROUP}/reason`]: reason }),
      };
    };
    await this.fleet.registry.modify(rolloutKind, REF, asked, { user: 'ann' });
    await this.fleet.settle();
  }

  approve(wave: string): Promise<void> {
    return this.steer('approve', wave);
  }

  podOn(node: string): Pod | undefined {
    return this.fleet
      .pods()
      .find(({ spec, metadata }) => spec.nodeName === node && !metadata.deletionTimestamp);
  }

  /** Sets the conditions Ready and Connected of a node. */
  async contact(node: string, ready: ConditionStatus, connected: ConditionStatus): Promise<void> {
    const conditions = [
      { type: 'Ready', status: ready },
      { type: 'Connected', status: connected },
    ];
    await this.fleet.registry.modify(
      nodeKind,
      { name: node },
      (stored): undefined => {
        stored.status = { ...stored.status, conditions };
      },
      { subresource: 'status' },
    );
    await this.fleet.settle();
  }

  async crash(pod: Pod): Promise<void> {
    const waiting = { reason: 'CrashLoopBackOff' };
    await this.fleet.registry.modify(
      podKind,
      pod.metadata,
      (stored): undefined => {
        const status = {
          name: 'app',
          image: 'app:2',
          imageID: '',
          ready: false,
          restartCount: 1,
          state: { waiting },
        };
        stored.status = { ...stored.status, phase: 'Running', containerStatuses: [status] };
      },
      { subresource: 'status' },
    );
    await this.fleet.settle();
  }

  newPods(): Pod[] {
    return this.fleet.pods().filter(isNew);
  }

  async makeNewReady(): Promise<void> {
    for (const pod of this.newPods()) await this.fleet.setPod(pod, 'Running', true);
    await this.fleet.settle();
  }
}

/** Options that a test may change. */
interface RollingOptions extends FleetOptions {
  /** Labels of the hosts before the first rollout. */
  labels?: (node: string, index: number) => Record<string, string>;
}

/** Registers a test with a DaemonSet `web` of `app:1`, rolled out to ten nodes, and a policy. */
export function withPolicy(
  rule: string,
  spec: Omit<RolloutPolicySpec, 'selector'>,
  check: (rolling: RolloutFixture) => Promise<void>,
  options: RollingOptions = {},
): void {
  test(rule, async () => {
    const fleet = await DaemonFleet.start(NODES, options);
    const rolling = new RolloutFixture(fleet);
    try {
      for (const [index, node] of NODES.entries()) {
        if (options.labels) await fleet.label(node, options.labels(node, index));
      }
      const policy = { metadata: { name: 'gentle' }, spec: { selector: {}, ...spec } };
      await fleet.registry.create(rolloutPolicyKind, 'default', policy);
      await fleet.create('web', {
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
      });
      await fleet.setImage('web', 'app:1');
      await fleet.rolledOut('web');
      await rolling.expectStatus('Completed', 'rest', 0);
      await check(rolling);
    } finally {
      await fleet.stop();
    }
  });
}
