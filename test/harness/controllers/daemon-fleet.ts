/** The DaemonSet controller over a registry and a memory store, with simulated agents. */
import { CreateRefusals } from '../../../coordinator/controllers/daemonsets/create-refusals.js';
import { startDaemonSetController } from '../../../coordinator/controllers/daemonsets/daemonset-controller.js';
import type {
  DaemonSetDeps,
  ResyncStatus,
} from '../../../coordinator/controllers/daemonsets/daemonset-deps.js';
import { NodeReservations } from '../../../coordinator/controllers/nodes/node-reservations.js';
import { ActiveRollouts } from '../../../coordinator/controllers/rollouts/rollout-constraints.js';
import type { RecordEvent } from '../../../coordinator/decisions/events/event-occurrence.js';
import type { Informers } from '../../../coordinator/informers/informer.js';
import { daemonSetKind, nodeKind, podKind } from '../../../coordinator/kinds/index.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import {
  type ControllerRevision,
  type DaemonSet,
  type DaemonSetSpec,
  REVISION_HASH_LABEL,
} from '../../../shared/kube/daemonsets/daemonset-types.js';
import { handoverOf } from '../../../shared/kube/handovers/host-handover.js';
import type { Node, Taint } from '../../../shared/kube/nodes/node-types.js';
import { withCondition } from '../../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { type Pod, type PodPhase, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import type { ManualClock } from '../../../shared/process/time/clock.js';
import { until } from '../basics/wait-until.js';
import { daemonSet } from '../objects/daemon-builders.js';
import { nodeObject } from '../objects/object-builders.js';
import { type ControlPlane, startControlPlane } from './control-plane-fixture.js';

const NAMESPACE = 'default';

/**
 * Behaviour of the simulated agents: which Pods become ready, whether deleted Pods stop at once, and whether handovers
 * start.
 */
export interface Agents {
  ready(pod: Pod): boolean;
  startsHandovers: boolean;
  stops: boolean;
}

/** Options of the fixture. `wrap` inserts a layer between controller and registry, for example one that rejects. */
export interface FleetOptions {
  /** Absent means that all hosts are resynced. */
  resynced?: ResyncStatus;
  agents?: Partial<Agents>;
  /** True enables the check of Pods' ServiceAccounts. */
  accounts?: boolean;
  wrap?: (registry: Registry) => DaemonSetDeps['registry'];
}

/** One running controller with its nodes, and methods for the actions of users and agents. */
export class DaemonFleet {
  /** `type reason message` of every Event about DaemonSets. */
  readonly events: string[] = [];
  readonly agents: Agents;
  readonly rollouts = new ActiveRollouts();
  readonly refusals = new CreateRefusals();
  readonly #plane: ControlPlane;
  #controller: { stop(): Promise<void> };
  readonly #wrap: NonNullable<FleetOptions['wrap']>;
  readonly #heard: ResyncStatus | undefined;
  #settled = Promise.resolve();

  static async start(nodeNames: string[], options: FleetOptions = {}): Promise<DaemonFleet> {
    const plane = await startControlPlane([], { accounts: options.accounts === true });
    for (const name of nodeNames) await addNode(plane.registry, name);
    return new DaemonFleet(plane, options);
  }

  private constructor(
    plane: ControlPlane,
    { agents = {}, wrap = (same) => same, resynced: heard }: FleetOptions,
  ) {
    this.#plane = plane;
    this.#heard = heard;
    this.#wrap = wrap;
    this.agents = { ready: () => true, stops: true, startsHandovers: true, ...agents };
    this.#controller = this.#startController();
    plane.informers.pods.onChange(({ current }) => {
      if (current) this.#settled = this.#settled.then(() => this.#actAsAgent(current));
    });
  }

  #startController(): { stop(): Promise<void> } {
    const { informers, events, registry } = this.#plane;
    const record: RecordEvent = (_about, type, reason, message) => {
      this.events.push(`${type} ${reason} ${message}`);
    };
    return startDaemonSetController({
      ...this.#plane,
      registry: this.#wrap(registry),
      recordEvent: record,
      recordRolloutEvent: record,
      activeRollouts: this.rollouts,
      refusals: this.refusals,
      ...(this.#heard ? { resync: this.#heard } : {}),
      reservations: new NodeReservations({
        informers,
        recordEvent: events.forComponent('default-scheduler'),
      }),
    });
  }

  /** Stops the controller at any point and starts another one without its memory. */
  async restartController(): Promise<void> {
    await this.stopController();
    this.startController();
  }

  /** Stops the controller. The registry keeps running. */
  async stopController(): Promise<void> {
    await this.#controller.stop();
  }

  startController(): void {
    this.#controller = this.#startController();
  }

  get registry(): Registry {
    return this.#plane.registry;
  }

  get informers(): Informers {
    return this.#plane.informers;
  }

  get clock(): ManualClock {
    return this.#plane.clock;
  }

  /** Runs everything that is ready. */
  settle(): Promise<void> {
    return this.#plane.settle();
  }

  async stop(): Promise<void> {
    await this.#controller.stop();
    await this.#settled;
    await this.#plane.stop();
  }

  async create(name: string, spec: Partial<DaemonSetSpec> = {}): Promise<DaemonSet> {
    const { uid: _uid, ...metadata } = daemonSet(name).metadata;
    const manifest = { ...daemonSet(name, spec), metadata };
    return (await this.registry.create(daemonSetKind, NAMESPACE, manifest)).object();
  }

  async change(name: string, change: (daemonSet: DaemonSet) => void): Promise<void> {
    const edit = (stored: DaemonSet): undefined => void change(stored);
    const { revision } = await this.registry.modify(daemonSetKind, { namespace: NAMESPACE, name }, edit);
    await this.informers.waitFor(revision);
  }

  setImage(name: string, image: string): Promise<void> {
    return this.change(name, ({ spec }) => {
      spec.template.spec.containers = [{ name: 'app', image }];
    });
  }

  async label(nodeName: string, labels: Record<string, string>): Promise<void> {
    await this.registry.modify(nodeKind, { name: nodeName }, (stored): undefined => {
      stored.metadata.labels = labels;
    });
  }

  async taint(nodeName: string, taints: Taint[]): Promise<void> {
    await this.registry.modify(nodeKind, { name: nodeName }, (stored): undefined => {
      stored.spec = { ...stored.spec, taints };
    });
  }

  pods(): Pod[] {
    return [...this.informers.pods.list()];
  }

  /**
   * Returns the image of each Pod that is not terminating, by node. Images of two Pods are joined by `+`, the older
   * first.
   */
  images(): Record<string, string> {
    const live = this.pods().filter((pod) => !pod.metadata.deletionTimestamp);
    const images: Record<string, string> = {};
    for (const pod of live) {
      const name = targetNodeOf(pod) ?? '';
      const image = pod.spec.containers[0]?.image ?? '';
      images[name] = images[name] ? `${images[name]}+${image}` : image;
    }
    return images;
  }

  status(name: string): DaemonSet['status'] {
    return this.informers.daemonSets.get({ namespace: NAMESPACE, name })?.status;
  }

  revisions(): ControllerRevision[] {
    const all = [...this.informers.controllerRevisions.list()];
    return all.sort((a, b) => a.revision - b.revision);
  }

  /** Returns the revision hashes of all Pods. */
  hashesOfPods(): Set<string | undefined> {
    return new Set(this.pods().map((pod) => pod.metadata.labels?.[REVISION_HASH_LABEL]));
  }

  async setPod(pod: Pod, phase: PodPhase, ready: boolean): Promise<void> {
    const now = toTimestamp(this.clock.now());
    const { namespace = NAMESPACE, name } = pod.metadata;
    const edit = (stored: Pod): undefined => {
      const condition = { type: 'Ready', status: ready ? ('True' as const) : ('False' as const) };
      stored.status = {
        ...stored.status,
        phase,
        conditions: withCondition(stored.status?.conditions, condition, now),
      };
    };
    await this.registry.modify(podKind, { namespace, name }, edit, { subresource: 'status' });
  }

  async delete(pod: Pod): Promise<void> {
    await this.registry.delete(podKind, { namespace: NAMESPACE, name: pod.metadata.name });
  }

  /** Asserts that the DaemonSet is observed and every node has exactly one available Pod of the newest template. */
  async rolledOut(name: string): Promise<void> {
    await until(() => {
      const stored = this.informers.daemonSets.get({ namespace: NAMESPACE, name });
      const status = stored?.status;
      const isDone =
        status?.observedGeneration === stored?.metadata.generation &&
        (status?.updatedNumberScheduled ?? 0) === status?.desiredNumberScheduled &&
        (status?.numberAvailable ?? 0) === status?.desiredNumberScheduled &&
        this.pods().length === status?.currentNumberScheduled;
      return isDone || `not rolled out: ${JSON.stringify(status)} ${JSON.stringify(this.images())}`;
    });
  }

  async #actAsAgent(pod: Pod): Promise<void> {
    const { name, namespace = NAMESPACE, uid = '' } = pod.metadata;
    if (this.informers.pods.get({ namespace, name })?.metadata.uid !== uid) return;
    if (pod.metadata.deletionTimestamp) {
      if (this.agents.stops) await this.registry.confirmStopped({ namespace, name }, uid);
      return;
    }
    if (handoverOf(pod) && this.agents.startsHandovers) await this.#takeTurn(pod).catch(ignoreGone);
    else if (!pod.status?.conditions && pod.spec.nodeName && this.agents.ready(pod)) {
      await this.setPod(pod, 'Running', true).catch(ignoreGone);
    }
  }

  /** Acts as a host without a reason to wait: it starts a handover as soon as it may. */
  async #takeTurn(pod: Pod): Promise<void> {
    const { successor } = handoverOf(pod) ?? {};
    const { name, namespace = NAMESPACE, uid = '' } = pod.metadata;
    if (!successor) return;
    await this.registry.delete(podKind, { namespace, name }, { preconditions: { uid } });
    await this.registry.confirmStopped({ namespace, name }, uid);
    const metadata = { ...successor.metadata, creationTimestamp: toTimestamp(this.clock.now()) };
    await this.registry.restoreObject(podKind, { ...successor, metadata });
  }
}

/** The Pod was deleted while its agent was about to report. */
function ignoreGone(error: Error & { reason?: string }): void {
  if (error.reason !== 'NotFound') throw error;
}

/** Creates a Ready node with much capacity, including its status. */
export async function addNode(registry: Registry, name: string): Promise<void> {
  const object = nodeObject(name);
  await registry.create(nodeKind, undefined, object);
  const edit = (stored: Node): undefined => {
    stored.status = object.status ?? {};
  };
  await registry.modify(nodeKind, { name }, edit, { subresource: 'status' });
}
