/** The Deployment and ReplicaSet controllers over a memory store, with a simulated agent, and kills at any write. */
import { GarbageCollector } from '../../../coordinator/controllers/gc/garbage-collector.js';
import { startWorkloadControllers } from '../../../coordinator/controllers/workloads/workload-controllers.js';
import type { RecordEvent } from '../../../coordinator/decisions/events/event-occurrence.js';
import { isActivePod, isReady } from '../../../coordinator/decisions/workloads/replica-pods.js';
import { deploymentKind, podKind, replicaSetKind } from '../../../coordinator/kinds/index.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Deployment, ReplicaSet } from '../../../shared/kube/workloads/workload-types.js';
import { type ControlPlane, startControlPlane } from './control-plane-fixture.js';
import { type Kill, WriteKills } from './write-kills.js';

const NAMESPACE = 'default';
const LABELS = { app: 'web' };
/** Pods of this image never become ready. */
export const BAD_IMAGE = 'web:bad';

/** Returns the body of a Deployment or ReplicaSet `web`. */
export function webBody(spec: object = {}, image = 'web:1', pod: object = {}): object {
  const template = { metadata: { labels: LABELS, ...pod }, spec: { containers: [{ name: 'main', image }] } };
  return {
    metadata: { name: 'web' },
    spec: { replicas: 4, selector: { matchLabels: LABELS }, template, ...spec },
  };
}

export function imageOf({ spec }: Pick<Pod, 'spec'>): string | undefined {
  return spec.containers[0]?.image;
}

export class DeploymentFixture {
  readonly plane: ControlPlane;
  /** `reason message` of every Event. */
  readonly events: string[] = [];
  /** Most Pods that were alive and fewest that were ready, since `watch()`. */
  most = 0;
  fewest = Number.POSITIVE_INFINITY;
  readonly kills: WriteKills;
  readonly #collector: GarbageCollector;
  #restarts = 0;
  #controllers: { stop(): Promise<void> } = { stop: () => Promise.resolve() };

  static async start(kill?: Kill): Promise<DeploymentFixture> {
    const fixture = new DeploymentFixture(await startControlPlane(), kill);
    fixture.startControllers();
    return fixture;
  }

  private constructor(plane: ControlPlane, kill: Kill | undefined) {
    this.plane = plane;
    this.kills = new WriteKills(kill);
    this.#collector = new GarbageCollector(plane);
    plane.informers.pods.onChange(() => {
      const alive = this.pods().filter(isActivePod);
      this.most = Math.max(this.most, alive.length);
      this.fewest = Math.min(this.fewest, alive.filter(isReady).length);
    });
  }

  startControllers(): void {
    const recordEvent: RecordEvent = (_about, _type, reason, message) => {
      this.events.push(`${reason} ${message}`);
    };
    const registry = this.kills.wrap(this.plane.registry);
    const recorders = { recordDeploymentEvent: recordEvent, recordReplicaSetEvent: recordEvent };
    this.#controllers = startWorkloadControllers({ ...this.plane, registry, ...recorders });
  }

  async stopControllers(): Promise<void> {
    await this.#controllers.stop();
  }

  /** Forgets the extremes so far. */
  watch(): void {
    this.most = 0;
    this.fewest = Number.POSITIVE_INFINITY;
  }

  async create(spec: object = {}, image?: string, pod?: object): Promise<void> {
    await this.plane.registry.create(deploymentKind, NAMESPACE, webBody(spec, image, pod));
  }

  async change(change: (deployment: Deployment) => void): Promise<void> {
    await this.plane.registry.modify(deploymentKind, { namespace: NAMESPACE, name: 'web' }, (stored) => {
      change(stored);
      return undefined;
    });
  }

  setImage(image: string): Promise<void> {
    return this.change(({ spec }) => {
      spec.template.spec.containers = [{ name: 'main', image }];
    });
  }

  async changePod({ metadata }: Pod, change: (pod: Pod) => void): Promise<void> {
    await this.plane.registry.modify(podKind, metadata, (stored) => {
      change(stored);
      return undefined;
    });
  }

  async setReady({ metadata }: Pod, status: 'True' | 'False'): Promise<void> {
    const lastTransitionTime = new Date(this.plane.clock.now()).toISOString().replace('.000', '');
    const conditions = [{ type: 'Ready', status, lastTransitionTime }];
    await this.plane.registry.writeStatus(podKind, metadata, (stored) => ({
      ...stored.status,
      phase: 'Running' as const,
      conditions,
    }));
  }

  deployment(): Deployment | undefined {
    return this.plane.informers.deployments.get({ namespace: NAMESPACE, name: 'web' });
  }

  replicaSets(): ReplicaSet[] {
    return [...this.plane.informers.replicaSets.list()];
  }

  async deleteReplicaSet(name: string): Promise<void> {
    await this.plane.registry.delete(replicaSetKind, { namespace: NAMESPACE, name });
  }

  pods(): Pod[] {
    return [...this.plane.informers.pods.list()];
  }

  /** Pods that are owned by a ReplicaSet and alive, with this image. */
  ownPods(image: string): Pod[] {
    return this.pods().filter(
      (pod) => isActivePod(pod) && controllerOf(pod.metadata) && imageOf(pod) === image,
    );
  }

  /** Returns `reason` of a condition. */
  reason(type: string): string | undefined {
    return this.deployment()?.status?.conditions?.find((one) => one.type === type)?.reason;
  }

  /** True if the status counts exactly the wanted Pods of the current template. */
  isDone(): boolean {
    const { spec, status, metadata } = this.deployment() ?? {};
    const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
    return (
      counts.every((count) => (count ?? 0) === spec?.replicas) &&
      status?.observedGeneration === metadata?.generation
    );
  }

  /** Makes one Pod ready at a time, restarts killed controllers, and advances the clock, until `isEnd` or some rounds. */
  async run(rounds = 60, isEnd: () => boolean = () => this.isDone(), stepMs = 1_100): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      await this.plane.settle();
      await this.restartIfKilled();
      const next = this.pods().find((pod) => isActivePod(pod) && !isReady(pod) && imageOf(pod) !== BAD_IMAGE);
      if (next) await this.setReady(next, 'True');
      await this.plane.advance(stepMs);
      if (!next && isEnd()) return;
    }
  }

  async restartIfKilled(): Promise<void> {
    if (this.kills.kills === this.#restarts) return;
    this.#restarts = this.kills.kills;
    await this.stopControllers();
    await this.plane.settle();
    this.startControllers();
    await this.plane.settle();
  }

  async stop(): Promise<void> {
    await this.stopControllers();
    await this.#collector.stop();
    await this.plane.stop();
  }
}

/** Runs `check` with a fixture. */
export async function withDeployments(
  check: (fixture: DeploymentFixture) => Promise<void>,
  kill?: Kill,
): Promise<void> {
  const fixture = await DeploymentFixture.start(kill);
  try {
    await check(fixture);
  } finally {
    await fixture.stop();
  }
}
