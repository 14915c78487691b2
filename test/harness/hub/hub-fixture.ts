/** A hub on a real port over a control plane, and agents that consist of a real link only. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Link } from '../../../agent/link/link.js';
import type {
  DesiredChange,
  Fleet,
  LinkDelegate,
  LinkServiceHandler,
} from '../../../agent/link/link-delegate.js';
import { Outbox } from '../../../agent/link/outbox.js';
import { Hub } from '../../../coordinator/hub/hub.js';
import { ObjectSigner } from '../../../coordinator/hub/restore/object-signer.js';
import { NodeLiveness } from '../../../coordinator/hub/sessions/node-liveness.js';
import { namespaceKind, nodeKind, podKind } from '../../../coordinator/kinds/index.js';
import { RestoreState } from '../../../coordinator/restore-state.js';
import type { PastEpoch, Store } from '../../../coordinator/store/store.js';
import { nodeGraceMs } from '../../../shared/kube/nodes/node-grace-period.js';
import type { Node, NodeStatus } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  type DesiredObject,
  LINK_PATH,
  type LogStreamRequest,
  type ReturnedObject,
  type Welcome,
} from '../../../shared/link/messages/link-messages.js';
import { type Logger, silentLogger } from '../../../shared/process/output/logger.js';
import { type Clock, monotonicClock } from '../../../shared/process/time/clock.js';
import { type ControlPlane, startControlPlane } from '../controllers/control-plane-fixture.js';
import { podObject } from '../objects/object-builders.js';
import { FixtureHostKeys, fixtureAuthority, type HostKey } from './fixture-host-keys.js';

export const GRACE_MS = 40_000;
export const RETURN_MS = 60_000;
/** Options of a followed log. */
export const FOLLOWED_LOG: LogStreamRequest = {
  type: 'log',
  podUid: 'u',
  container: 'main',
  follow: true,
  previous: false,
  timestamps: false,
};

export interface HubFixture {
  controlPlane: ControlPlane;
  hub: Hub;
  liveness: NodeLiveness;
  restoreState: RestoreState;
  port: number;
  /** `ws://127.0.0.1:PORT`, or with TLS `wss://127.0.0.1:PORT`. */
  origin: string;
  /** PEM of the server's authority. Absent without TLS. */
  ca?: string;
  /** Returns the key of a node, registered as by a join. */
  hostKey(node: string): Promise<HostKey>;
  /** Connects an agent of this node. */
  agent(node: string, options?: AgentOptions): Promise<TestAgent>;
  node(name: string): Promise<Node>;
  /** Creates a Pod that is bound to a node. */
  boundPod(name: string, node: string): Promise<Pod>;
  pod(name: string): Promise<Pod | undefined>;
}

interface AgentOptions {
  instanceID?: string;
  clock?: Clock;
  /** Port of the hub for this agent. Absent means the hub's own port. */
  port?: number;
  /** The objects that the host already has, for its hello. */
  held?: Map<string, string>;
  clusterUID?: string;
  /** The store epoch in which the agent last received desired state, for its hello. */
  epoch?: string;
  revision?: number;
  /** Resource usage of its process. Absent means that the agent does not report it. */
  cost?: { memoryBytes: number; writtenBytes: number };
  /** Receives Services. Absent means that the agent does not announce the feature. */
  services?: LinkServiceHandler;
  /** Its assigned objects by uid. With them the host can answer an `ask`. */
  given?: Map<string, DesiredObject>;
}

/** A hub with a restored store, at its start. */
interface RestoredFixture {
  pastEpochs: readonly PastEpoch[];
  /** The Pods in the backup. */
  pods?: readonly Pod[];
}

/** A connected agent that records everything it receives. */
export class TestAgent implements LinkDelegate {
  readonly held: Map<string, string>;
  readonly assigned: Map<string, DesiredObject>;
  readonly changes: DesiredChange[] = [];
  /** Every received list of images to prefetch. */
  readonly pinnedImages: string[][] = [];
  readonly welcomes: Welcome[] = [];
  /** Every time that the hub sent outside a welcome, in ms. */
  readonly times: number[] = [];
  readonly lost: string[] = [];
  /** Uids of handovers that the hub has acknowledged. */
  readonly confirmedHandovers: string[] = [];
  /** Reasons of links that broke or failed to connect. */
  readonly failures: string[] = [];
  readonly ended: string[] = [];
  log = async function* (): AsyncIterable<Uint8Array> {
    yield Buffer.from('a line\n');
  };
  status: NodeStatus = {
    nodeInfo: nodeInfo(),
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' }],
  };
  clusterUID: string | undefined;
  link!: Link;
  #epoch: string | undefined;
  #revision: number;

  constructor(options: AgentOptions) {
    this.held = options.held ?? new Map();
    this.assigned = options.given ?? new Map();
    this.clusterUID = options.clusterUID;
    this.#epoch = options.epoch;
    this.#revision = options.revision ?? 0;
  }

  resumePoint() {
    const objects = [...this.held];
    const fleet = this.clusterUID === undefined ? {} : { clusterUID: this.clusterUID };
    return { ...fleet, ...(this.#epoch ? { epoch: this.#epoch } : {}), revision: this.#revision, objects };
  }

  labels: Record<string, string> = { zone: 'a' };

  registration() {
    return { labels: this.labels, taints: [] };
  }

  nodeStatus(): NodeStatus {
    return this.status;
  }

  async apply(change: DesiredChange): Promise<void> {
    this.changes.push(change);
    this.clusterUID = change.clusterUID;
    this.#epoch = change.epoch;
    this.#revision = change.revision;
    for (const object of change.set) {
      this.held.set(object.uid, object.digest);
      this.assigned.set(object.uid, object);
    }
    for (const uid of change.unassigned) this.held.delete(uid);
  }

  dropAllPods(fleet: Fleet): Promise<void> {
    return this.apply({ set: [], unassigned: [...this.held.keys()], revision: this.#revision, ...fleet });
  }

  prefetchImages(images: readonly string[]): void {
    this.pinnedImages.push([...images]);
  }

  returnObject(uid: string): ReturnedObject {
    return this.assigned.get(uid) ?? { uid };
  }

  openStream: LinkDelegate['openStream'] = async () => this.log();

  onLive(welcome: Welcome): void {
    this.welcomes.push(welcome);
  }

  onCoordinatorTime(serverTimeMs: number): void {
    this.times.push(serverTimeMs);
  }

  onHandoversAcknowledged(uids: readonly string[]): void {
    this.confirmedHandovers.push(...uids);
  }

  onFailed(reasons: readonly string[]): void {
    this.failures.push(...reasons);
  }

  onLost(reason: string): void {
    this.lost.push(reason);
  }

  onEnded(reason: string): void {
    this.ended.push(reason);
  }
}

/** The node info of an unspecified host. */
export function nodeInfo() {
  const unknown = {
    machineID: '',
    systemUUID: '',
    bootID: '',
    kernelVersion: '',
    osImage: '',
    containerRuntimeVersion: 'hollow://1',
    kubeletVersion: 'v0.1.0',
    kubeProxyVersion: '',
  };
  return { ...unknown, operatingSystem: 'linux', architecture: 'amd64' };
}

/** Returns the object signer of a hub over this store. All fixtures share its key, like the hubs of one fleet. */
export function objectMacOf(store: Pick<Store, 'epoch' | 'pastEpochs'>): ObjectSigner {
  return new ObjectSigner(Buffer.alloc(32, 's'), { epoch: store.epoch(), pastEpochs: store.pastEpochs() });
}

/** A port at which agents reach a hub. */
export interface HubPort extends Pick<HubFixture, 'port' | 'origin' | 'ca'> {
  close(): Promise<void> | void;
}

async function serveOverHttp(hub: Hub): Promise<HubPort> {
  const server = createServer();
  server.on('upgrade', (request, socket, head) => hub.handleUpgrade(request, socket, head));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, origin: `ws://127.0.0.1:${port}`, close: () => void server.close() };
}

/** Registers a test with a new hub. Everything is stopped after it. `serve` opens its port. */
export function withHub(
  rule: string,
  check: (fixture: HubFixture) => Promise<void>,
  restored?: RestoredFixture,
  log: Logger = silentLogger,
  serve: (hub: Hub) => Promise<HubPort> = serveOverHttp,
): void {
  test(rule, async () => {
    const plane = await startControlPlane(restored?.pastEpochs);
    const { registry, informers, clock, store, events } = plane;
    await registry.create(namespaceKind, undefined, { metadata: { name: 'kube-system' } });
    for (const pod of restored?.pods ?? []) await registry.restoreObject(podKind, pod);
    const restore = new RestoreState(store, silentLogger);
    const graceOf = (name: string) => nodeGraceMs(informers.nodes.get({ name })?.metadata ?? {}, GRACE_MS);
    const presence = new NodeLiveness(clock, { graceMs: GRACE_MS, graceOf, returnMs: RETURN_MS });
    const authority = await fixtureAuthority(clock);
    const hub = new Hub({
      registry,
      informers,
      liveness: presence,
      clusterUID: store.clusterUID(),
      epoch: store.epoch(),
      signer: objectMacOf(store),
      authority,
      restore,
      recordEvent: {
        asNodeController: events.forComponent('node-controller'),
        asAgent: events.forComponent('kubelet'),
      },
      clock,
      log,
    });
    const { close, ...address } = await serve(hub);
    const agents: TestAgent[] = [];
    const keys = new FixtureHostKeys(authority, registry);
    const fixture = benchFor(
      { controlPlane: plane, hub, liveness: presence, restoreState: restore, ...address },
      keys,
      agents,
    );
    try {
      await check(fixture);
    } finally {
      for (const { link } of agents) link.stop();
      await hub.stop();
      await close();
      await plane.stop();
    }
  });
}

function benchFor(
  parts: Pick<HubFixture, 'controlPlane' | 'hub' | 'liveness' | 'restoreState' | 'port' | 'origin' | 'ca'>,
  keys: FixtureHostKeys,
  agents: TestAgent[],
): HubFixture {
  const { controlPlane: plane, origin, ca } = parts;
  const { registry } = plane;
  return {
    ...parts,
    hostKey: (node) => keys.of(node),
    agent: async (node, options = {}) => {
      const agent = new TestAgent(options);
      const { cost, services } = options;
      const clock = monotonicClock(options.clock ?? plane.clock);
      agents.push(agent);
      agent.link = new Link({
        target: {
          url: `${options.port ? `ws://127.0.0.1:${options.port}` : origin}${LINK_PATH}`,
          ca,
          ...(await keys.of(node)),
          clusterUID: plane.store.clusterUID(),
          node,
        },
        identity: { node, bootID: 'b', instanceID: options.instanceID ?? node, agentVersion: '0.1.0' },
        delegate: agent,
        outbox: new Outbox({ clock }),
        ...(cost ? { cost: () => cost } : {}),
        ...(services ? { services } : {}),
        clock,
        log: silentLogger,
        random: () => 0,
      });
      agent.link.start();
      return agent;
    },
    node: async (name) => (await registry.get(nodeKind, { name })).object(),
    boundPod: async (name, nodeName) =>
      (await registry.create(podKind, 'default', podObject(name, { nodeName }))).object(),
    pod: async (name) => {
      const { records } = await registry.list(podKind, { fieldSelector: `metadata.name=${name}` });
      return records[0]?.object();
    },
  };
}
