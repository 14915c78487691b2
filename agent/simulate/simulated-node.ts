/** A simulated host: the real agent over a hollow engine, with nothing on disk. */
import type { Condition } from '../../shared/kube/objects/conditions.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../shared/process/output/logger.js';
import { type RunningComponents, startComponents } from '../../shared/process/service/program-lifecycle.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { systemRandom } from '../../shared/process/time/random.js';
import { TimeSlice } from '../../shared/process/time/time-slice.js';
import { type Agent, createAgent } from '../assembly/create-agent.js';
import { effectivePod, podsNeededBy } from '../decisions/handovers/assigned-pod-handover.js';
import { fullImageName } from '../decisions/images/image-name.js';
import { ConfigCache } from '../desired/config-object-cache.js';
import { DesiredCache } from '../desired/desired-cache.js';
import type { CoordinatorAddresses } from '../link/coordinator-addresses.js';
import type { LinkTarget } from '../link/link-target.js';
import { HollowDriver } from '../runtime/hollow/hollow-driver.js';
import { COMPLETION_MS, HollowEngine } from '../runtime/hollow/hollow-engine.js';
import { SANDBOX } from '../runtime/runtime-driver.js';
import { hollowHostDeps, hollowHostInfo, simulatedHostLoad } from './hollow-host.js';
import type { QueriedNode } from './node-query.js';
import { type NodeTemplate, statusFromTemplate } from './node-templates.js';
import type { SimulatedHostNetwork } from './simulated-host-network.js';
import { simulationAnnotationErrors } from './simulation-annotation-errors.js';
import { cutsLink, simulatedBehaviour } from './simulation-annotations.js';

/** Exit code of a process that a power cut ended. */
const KILLED = 137;

interface SimulatedNodeOptions {
  template: NodeTemplate;
  /** `wss://HOST:PORT/link`. */
  addresses: CoordinatorAddresses;
  identity: Pick<LinkTarget, 'ca' | 'key' | 'certificate'>;
  clusterUID: string;
  network: SimulatedHostNetwork;
  address: string;
  speed: number;
  /** Resolves when the process has time for another reconnect. */
  waitToConnect: () => Promise<void> | undefined;
  /** Monotonic. Hosts with the same clock share their engines' time, so that heartbeats are punctual. */
  clock: Clock;
  log: Logger;
  /** Limits the warnings of the whole fleet. */
  warnings?: WarningLimiter | undefined;
}

/** State of hosts, for the progress line. */
export interface NodeCounts {
  live: number;
  /** Hosts that the coordinator has rejected. They retry seldom. */
  refused: number;
  pods: number;
  running: number;
}

export class SimulatedNode implements QueriedNode {
  readonly network: SimulatedHostNetwork;
  readonly #options: SimulatedNodeOptions;
  readonly engine: HollowEngine;
  readonly #cache: DesiredCache;
  readonly #config: ConfigCache;
  readonly #conditions = new Map<string, Condition>();
  /** Uids of Pods whose containers a reboot has ended. */
  readonly #rebooted = new Set<string>();
  #boots = 0;
  #updateLock: string | undefined;
  #isRefused = false;
  #agent: Agent | undefined;
  #running: RunningComponents | undefined;

  constructor(options: SimulatedNodeOptions) {
    const { clock, log } = options;
    this.#options = options;
    this.network = options.network;
    this.#cache = DesiredCache.inMemory(clock, log);
    this.#config = ConfigCache.inMemory(log);
    const ofPod = (pod: Pod | undefined) => {
      for (const error of pod ? simulationAnnotationErrors(pod) : []) options.warnings?.warn('error', error);
      const isRebooted = this.#rebooted.has(pod?.metadata.uid ?? '');
      return pod && simulatedBehaviour(pod, { node: this, speed: options.speed, isRebooted });
    };
    const slice = new TimeSlice(clock);
    this.engine = new HollowEngine({
      clock,
      completionMs: COMPLETION_MS / options.speed,
      waitForSlot: () => slice.yieldIfUsedUp(),
      podBehaviours: {
        forPod: (uid) => ofPod(this.#runs(uid)),
        forImage: (image) => ofPod(this.#podWithImage(image)),
        onChange: () => this.network.block(this.#isCutOff()),
      },
    });
  }

  get name(): string {
    return this.#options.template.metadata.name;
  }

  get labels(): Record<string, string> {
    return this.#options.template.metadata.labels ?? {};
  }

  /** Starts the agent. `onLive` is called at each welcome. Resolves before the first. */
  async start(onLive: () => void): Promise<void> {
    const { template, addresses, identity, clusterUID, clock, log } = this.#options;
    const conditions = this.#conditions;
    this.#agent = createAgent({
      ...hollowHostDeps(),
      settings: { nodeName: this.name, labels: this.labels, taints: template.spec?.taints ?? [] },
      target: {
        addresses,
        get url() {
          return addresses.linkUrl;
        },
        ...identity,
        node: this.name,
        clusterUID,
        connect: (options) => this.network.connect(options),
        waitForConnectSlot: this.#options.waitToConnect,
      },
      driver: new HollowDriver(this.engine, this.owner),
      cache: this.#cache,
      config: this.#config,
      readHost: () => hollowHostInfo(this.name, this.#boots, this.#options.address),
      amendStatus: (status) => statusFromTemplate(status, template, [...conditions.values()]),
      load: simulatedHostLoad(this.name, clock),
      updateLock: {
        ask: async () => (this.#updateLock === undefined ? undefined : { reason: this.#updateLock }),
      },
      onLive: () => {
        this.#isRefused = false;
        onLive();
      },
      onFailed: (reason) => this.#failed(reason),
      clock,
      wallClock: clock,
      random: systemRandom,
      log,
    });
    this.#running = await startComponents(this.#agent.components, log);
  }

  /** Stops the agent. Its simulated containers keep running. */
  async stop(): Promise<void> {
    await this.#running?.stop();
  }

  /** Simulates a power cut: ends the agent and all containers without notice, and starts the host again. */
  async reboot(): Promise<void> {
    await this.stop();
    this.#boots += 1;
    for (const { identity } of this.engine.ownedBy(this.owner)) {
      const { podUid, container } = identity;
      this.#rebooted.add(podUid);
      this.engine.command({ command: 'exit', podUid, code: KILLED, container });
    }
    await this.start(() => undefined);
  }

  /** Returns whether a container of this image was ever started on this host. */
  hasRun(image: string): boolean {
    return this.engine.hasStarted(fullImageName(image));
  }

  /** Blocks updates on this host for this reason, as its operator can. Undefined unblocks them. */
  lockUpdates(reason: string | undefined): void {
    this.#updateLock = reason;
  }

  /** Sets a condition of the Node until it is set again. */
  setCondition(type: string, status: Condition['status']): void {
    const transition = new Date(this.#options.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const reason = 'Simulated';
    this.#conditions.set(type, { type, status, reason, message: '', lastTransitionTime: transition });
    this.#agent?.node.refresh();
  }

  counts(): NodeCounts {
    const containers = this.engine.ownedBy(this.owner);
    return {
      live: this.#agent?.link.phase === 'live' ? 1 : 0,
      refused: this.#isRefused ? 1 : 0,
      pods: this.#cache.size,
      running: containers.filter(({ state }) => state === 'running').length,
    };
  }

  get owner(): { clusterUID: string; nodeName: string } {
    return { clusterUID: this.#options.clusterUID, nodeName: this.name };
  }

  /** Warns about rejected hosts only: broken connections are usual in a simulation. */
  #failed(reason: string): void {
    if (reason.startsWith('nodeDeleted')) {
      const again = `${this.name} was deleted; to register it again: reboot ${this.name}`;
      this.#options.warnings?.warn('deleted', again);
    }
    if (!/^(refused|duplicate)\b/.test(reason)) return;
    this.#isRefused = true;
    this.#options.warnings?.warn('refused', `${this.name} was rejected: ${reason}`);
  }

  #isCutOff(): boolean {
    return this.engine.ownedBy(this.owner).some(({ state, identity: { podUid, container } }) => {
      const pod = state === 'running' && container !== SANDBOX && this.#runs(podUid);
      return pod && cutsLink(pod);
    });
  }

  #runs(uid: string): Pod | undefined {
    const held = this.#cache.get(uid);
    return held && effectivePod(held).pod;
  }

  #podWithImage(image: string): Pod | undefined {
    for (const pod of [...this.#cache.all()].flatMap(podsNeededBy)) {
      if (pod.spec.containers.some((container) => fullImageName(container.image ?? '') === image)) return pod;
    }
    return undefined;
  }
}

/** Warnings of one kind: in a fleet of thousands the same error can occur thousands of times. */
const MAX_WARNINGS_PER_KIND = 5;

export class WarningLimiter {
  readonly #warn: (text: string) => void;
  readonly #passedOn = new Map<string, Set<string>>();

  constructor(warn: (text: string) => void) {
    this.#warn = warn;
  }

  /** Passes `text` on, unless it is repeated or there were too many warnings of its kind. */
  warn(kind: string, text: string): void {
    const passedOn = this.#passedOn.get(kind) ?? new Set();
    this.#passedOn.set(kind, passedOn);
    if (passedOn.size === MAX_WARNINGS_PER_KIND || passedOn.has(text)) return;
    passedOn.add(text);
    this.#warn(
      passedOn.size === MAX_WARNINGS_PER_KIND
        ? `${text} (further warnings of this kind are not shown)`
        : text,
    );
  }
}
