/** The clients of a cluster of coordinators: writers, a watch, releases, and the record of the hosts' containers. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { ConfigMap } from '../../../shared/kube/objects/config-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { DAEMON_SETS, daemonSetBody } from '../../harness/processes/restore-fleet.js';
import type { SeededRandom } from '../../simulation/machines/seeded-random.js';
import { AddressChoice } from './address-choice.js';
import type { ChaosCluster } from './chaos-cluster.js';
import { type ExpectedContainers, WatchChecker } from './cluster-check.js';
import { ContainerRecorder } from './container-recorder.js';
import { MACHINES } from './machine-network.js';
import { TurnWatch } from './turn-watch.js';
import { type Acknowledged, MAPS, TurnWriter } from './turn-writer.js';

const WRITERS = 3;
const STEADY = 'steady';
const RELEASED = 'app';
const MERGE = 'application/merge-patch+json';
/** A rollout then takes several seconds. */
const MIN_READY_SECONDS = 1;

export class ClusterClients {
  readonly #chaos: ChaosCluster;
  readonly #writers: TurnWriter[];
  readonly #watch: TurnWatch;
  readonly #watched: WatchChecker;
  readonly #recorder: ContainerRecorder;
  readonly #releases: string[] = [];
  readonly #violations: string[] = [];
  /** Times of acknowledged writes, by the monotonic clock. */
  #times: number[] = [];
  /** Refused writes since `takeRefusals`, by code and reason. */
  #refusals = new Map<string, number>();

  constructor(chaos: ChaosCluster, random: SeededRandom) {
    this.#chaos = chaos;
    const apis = Array.from({ length: MACHINES }, (_, index) => chaos.api(index));
    this.#writers = Array.from(
      { length: WRITERS },
      (_, index) =>
        new TurnWriter({
          name: `writer-${index + 1}`,
          addresses: new AddressChoice(apis, random.stream(`writer-${index + 1}`)),
          onAcknowledged: () => this.#times.push(performance.now()),
          onViolation: (violation) => this.#violations.push(violation),
          onRefused: (refusal) => this.#refusals.set(refusal, (this.#refusals.get(refusal) ?? 0) + 1),
        }),
    );
    const names = new Set(this.#writers.map(({ acknowledged }) => acknowledged.name));
    this.#watched = new WatchChecker((name) => names.has(name));
    this.#watch = new TurnWatch(new AddressChoice(apis, random.stream('watch')));
    this.#recorder = new ContainerRecorder(new Map(chaos.hosts.map((host) => [host, chaos.dataDirOf(host)])));
  }

  /** Creates the DaemonSets and starts the watch and the record of containers. */
  async start(): Promise<void> {
    await this.#chaos.send('POST', DAEMON_SETS, bodyOf(STEADY, 'steady:1'));
    await this.#chaos.send('POST', DAEMON_SETS, bodyOf(RELEASED, this.#nextRelease()));
    this.#watch.start();
  }

  /** The hosts' engines have stored their state by now. */
  record(): void {
    this.#recorder.start();
  }

  /** Changes the image of the released DaemonSet. Resolves when the change is acknowledged. */
  async release(): Promise<void> {
    const template = { spec: { containers: [{ name: RELEASED, image: this.#nextRelease() }] } };
    const { code, body } = await this.#chaos.send(
      'PATCH',
      `${DAEMON_SETS}/${RELEASED}`,
      { spec: { template } },
      MERGE,
    );
    if (code >= 300) this.#violations.push(`a release was answered with ${code}: ${JSON.stringify(body)}`);
  }

  startWriting(): void {
    for (const writer of this.#writers) writer.start();
  }

  /** Resolves when each writer has its acknowledgement. */
  async stopWriting(): Promise<void> {
    await Promise.all(this.#writers.map((writer) => writer.stop()));
  }

  /** Ends the writers although their last writes have no answer. */
  async abandon(): Promise<void> {
    await Promise.all(this.#writers.map((writer) => writer.close()));
  }

  get lastWriteAt(): number | undefined {
    return this.#times.at(-1);
  }

  get acknowledged(): Acknowledged[] {
    return this.#writers.map((writer) => writer.acknowledged);
  }

  get expectedContainers(): ExpectedContainers {
    return { hosts: this.#chaos.hosts, steady: STEADY, released: RELEASED, releases: this.#releases };
  }

  get containers() {
    return [...this.#recorder.containers.values()];
  }

  /** Number of changes that the watch saw, of its connections and of its lists. */
  get watchCounts(): { changes: number; connections: number; lists: number } {
    const { changes, lists } = this.#watched;
    return { changes, lists, connections: this.#watch.connections };
  }

  /** Acknowledged changes that the watch has not delivered yet. */
  unseen(): string[] {
    this.#watched.add(this.#watch.take());
    return this.#watched.missing(this.acknowledged);
  }

  /** Turns of the stored ConfigMaps, by name. Rejects without an answer. */
  async stored(): Promise<Map<string, number>> {
    const { body } = await this.#chaos.send('GET', MAPS);
    const { items } = body as { items: ConfigMap[] };
    return new Map(items.map(({ metadata, data }) => [metadata.name, Number(data?.turn)]));
  }

  /** Nodes that are not connected, and wrong figures of the released DaemonSet. Rejects without an answer. */
  async unsettledObjects(): Promise<string[]> {
    const nodes = (await this.#items('/api/v1/nodes')) as Node[];
    const pods = (await this.#items('/api/v1/namespaces/default/pods')) as Pod[];
    const sets = (await this.#items(DAEMON_SETS)) as DaemonSet[];
    const hosts = this.#chaos.hosts.length;
    return [
      ...nodes
        .filter(
          ({ status }) => !['Ready', 'Connected'].every((type) => isConditionTrue(status?.conditions, type)),
        )
        .map(({ metadata }) => `Node ${metadata.name} is not Ready and connected`),
      ...(nodes.length === hosts ? [] : [`${nodes.length} Nodes exist`]),
      ...(pods.length === 2 * hosts ? [] : [`${pods.length} Pods exist`]),
      ...pods
        .filter(({ status }) => status?.containerStatuses?.[0]?.ready !== true)
        .map(({ metadata }) => `Pod ${metadata.name} is not ready`),
      ...sets.flatMap(({ metadata, status }) => {
        const { observedGeneration, updatedNumberScheduled, numberAvailable } = status ?? {};
        return observedGeneration === metadata.generation &&
          updatedNumberScheduled === hosts &&
          numberAvailable === hosts
          ? []
          : [
              `DaemonSet ${metadata.name} has ${updatedNumberScheduled} updated and ${numberAvailable} available Pods`,
            ];
      }),
    ];
  }

  /** Returns the violations that were noticed since the last call. */
  takeViolations(): string[] {
    return [this.#violations, this.#watched.violations, this.#recorder.violations].flatMap((list) =>
      list.splice(0),
    );
  }

  /** Returns times of acknowledged writes since the last call. */
  takeTimes(): number[] {
    const times = this.#times;
    this.#times = [];
    return times;
  }

  takeRefusals(): ReadonlyMap<string, number> {
    const refusals = this.#refusals;
    this.#refusals = new Map();
    return refusals;
  }

  async close(): Promise<void> {
    await this.abandon();
    await this.#watch.close();
    this.#recorder.close();
  }

  #nextRelease(): string {
    const image = `app:${this.#releases.length + 1}`;
    this.#releases.push(image);
    return image;
  }

  async #items(path: string): Promise<unknown[]> {
    const { body } = await this.#chaos.send('GET', path);
    return (body as { items: unknown[] }).items;
  }
}

/** Hosts are updated one after another. The container has the name of its DaemonSet. */
function bodyOf(name: string, image: string): unknown {
  const { metadata, spec } = daemonSetBody(name, image);
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
  const template = {
    ...spec.template,
    spec: { ...spec.template.spec, containers: [{ name, image }] },
  };
  return { metadata, spec: { ...spec, template, updateStrategy, minReadySeconds: MIN_READY_SECONDS } };
}
