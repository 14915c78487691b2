/** All controllers over a memory store, with agents that run every bound Pod and stop deleted Pods when allowed. */

import { CreateRefusals } from '../../../coordinator/controllers/daemonsets/create-refusals.js';
import { startControllers } from '../../../coordinator/controllers/index.js';
import { ActiveRollouts } from '../../../coordinator/controllers/rollouts/rollout-constraints.js';
import { DaemonSetExplainer } from '../../../coordinator/controllers/views/daemonset-explainer.js';
import { daemonSetKind, nodeKind, podKind, priorityClassKind } from '../../../coordinator/kinds/index.js';
import type { DaemonSet, DaemonSetStatus } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { isGone } from '../../../shared/kube/objects/api-status.js';
import { withCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import type { PriorityClass } from '../../../shared/kube/pods/priority-class.js';
import { daemonSetObject, type NodeOptions, podObject } from '../objects/object-builders.js';
import { type ControlPlane, joinNode, withControlPlane } from './control-plane-fixture.js';

/** A spec with one container that requests this much CPU, and a PriorityClass. */
export function wanting(cpu: string, priorityClassName?: string): PodSpec {
  return {
    containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu } } }],
    ...(priorityClassName ? { priorityClassName } : {}),
  };
}

export class PriorityFixture {
  /** While false, deleted Pods keep running, like on a host that is offline. */
  stops = true;
  /** Names of deleted Pods, in the order of the requests. */
  readonly deleted: string[] = [];
  readonly refusals = new CreateRefusals();
  readonly rollouts = new ActiveRollouts();
  #acting = Promise.resolve();

  constructor(readonly plane: ControlPlane) {
    plane.informers.pods.onChange(({ previous, current }) => {
      if (current?.metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp)
        this.deleted.push(current.metadata.name);
      if (current) this.#acting = this.#acting.then(() => this.#act(current));
    });
  }

  async #act({ metadata, spec }: Pod): Promise<void> {
    const pod = this.plane.informers.pods.get(metadata);
    if (!pod || pod.metadata.uid !== metadata.uid) return;
    if (pod.metadata.deletionTimestamp) {
      if (this.stops) await this.plane.registry.confirmStopped(metadata, metadata.uid ?? '');
    } else if (spec.nodeName && pod.status?.phase === 'Pending') {
      await this.#run(pod).catch((error) => {
        if (!isGone(error)) throw error;
      });
    }
  }

  async #run({ metadata }: Pod): Promise<void> {
    const now = toTimestamp(this.plane.clock.now());
    await this.plane.registry.writeStatus(podKind, metadata, ({ status }) => ({
      ...status,
      phase: 'Running' as const,
      startTime: now,
      conditions: withCondition(status?.conditions, { type: 'Ready', status: 'True' }, now),
    }));
  }

  /** Ends all Pods that were deleted while `stops` was false. */
  async stopDeleted(): Promise<void> {
    this.stops = true;
    for (const pod of this.plane.informers.pods.list()) {
      if (pod.metadata.deletionTimestamp)
        await this.plane.registry.confirmStopped(pod.metadata, pod.metadata.uid ?? '');
    }
    await this.settle();
  }

  node(name: string, options: NodeOptions = {}): Promise<void> {
    return joinNode(this.plane, name, options);
  }

  async cordon(name: string, isCordoned: boolean): Promise<void> {
    await this.plane.registry.modify(nodeKind, { name }, (node) => {
      node.spec = { ...node.spec, unschedulable: isCordoned };
    });
    await this.settle();
  }

  async priorityClass(name: string, value: number, fields: Partial<PriorityClass> = {}): Promise<void> {
    await this.plane.registry.create(priorityClassKind, undefined, { metadata: { name }, value, ...fields });
    await this.settle();
  }

  async pod(name: string, spec: Partial<PodSpec>): Promise<void> {
    await this.plane.registry.create(podKind, 'default', podObject(name, spec));
    await this.settle();
  }

  /** Creates a DaemonSet whose Pods have this spec. */
  async daemonSet(name: string, spec: PodSpec): Promise<void> {
    const object = daemonSetObject(name);
    object.spec.template.spec = spec;
    await this.plane.registry.create(daemonSetKind, 'default', object);
    await this.settle();
  }

  /** Changes the image of a DaemonSet, and the CPU that it requests. */
  async release(name: string, image: string, cpu?: string): Promise<void> {
    const edit = ({ spec }: DaemonSet): undefined => {
      for (const container of spec.template.spec.containers) {
        container.image = image;
        if (cpu !== undefined) container.resources = { requests: { cpu } };
      }
    };
    await this.plane.registry.modify(daemonSetKind, { namespace: 'default', name }, edit);
    await this.settle();
  }

  async deleteDaemonSet(name: string): Promise<void> {
    await this.plane.registry.delete(daemonSetKind, { namespace: 'default', name });
    await this.settle();
  }

  async settle(): Promise<void> {
    for (let rounds = 0; rounds < 3; rounds += 1) {
      await this.plane.settle();
      await this.#acting;
    }
    await this.plane.settle();
  }

  podNamed(name: string): Pod | undefined {
    return this.plane.informers.pods.get({ namespace: 'default', name });
  }

  /** Returns the Pods whose names begin so: `name@node` or `name@-`, with `!` if the Pod is ending. */
  places(prefix = ''): string[] {
    return [...this.plane.informers.pods.list()]
      .filter(({ metadata }) => metadata.name.startsWith(prefix))
      .map(({ metadata, spec }) => {
        const owner = metadata.ownerReferences?.[0]?.name ?? metadata.name;
        return `${owner}@${spec.nodeName ?? '-'}${metadata.deletionTimestamp ? '!' : ''}`;
      })
      .sort();
  }

  /** Returns the only Pod of a DaemonSet. */
  podOf(daemonSet: string): Pod {
    const [pod, ...others] = [...this.plane.informers.pods.list()].filter(
      ({ metadata }) => metadata.ownerReferences?.[0]?.name === daemonSet,
    );
    if (!pod || others.length > 0) throw new Error(`not one Pod of ${daemonSet}: ${this.places()}`);
    return pod;
  }

  statusOf(daemonSet: string): DaemonSetStatus | undefined {
    return this.plane.informers.daemonSets.get({ namespace: 'default', name: daemonSet })?.status;
  }

  /** Returns code and sentence of `everynode why`. */
  why(daemonSet: string, node: string): { code: string; sentence: string } {
    const explainer = new DaemonSetExplainer({
      ...this.plane,
      rollouts: this.rollouts,
      refusals: this.refusals,
    });
    return explainer.explainNode({ namespace: 'default', name: daemonSet }, node);
  }
}

/** Registers a test with running controllers. */
export function withPriorities(rule: string, check: (fixture: PriorityFixture) => Promise<void>): void {
  withControlPlane(rule, async (plane) => {
    const fixture = new PriorityFixture(plane);
    const controllers = await startControllers({
      ...plane,
      rollouts: fixture.rollouts,
      refusals: fixture.refusals,
    });
    try {
      await fixture.settle();
      await check(fixture);
    } finally {
      await controllers.stop();
    }
  });
}
