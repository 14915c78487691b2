/**
 * The coordinator without its environment: registry, informers, hub and controllers. The simulation builds the same
 * core.
 */

import { nodeGraceMs } from '../shared/kube/nodes/node-grace-period.js';
import type { Lease } from '../shared/kube/objects/event-types.js';
import type { Logger } from '../shared/process/output/logger.js';
import type { Component } from '../shared/process/service/program-lifecycle.js';
import type { Clock } from '../shared/process/time/clock.js';
import { type Random, systemRandom } from '../shared/process/time/random.js';
import { cachedAdmissionPolicies, cachedAdmissionWebhooks } from './access/cached-admission-policies.js';
import { ServiceAccountTokens } from './access/service-account-tokens.js';
import type { SigningKey } from './access/token-signing-keys.js';
import type { PodStreams } from './api/ports.js';
import { ClockSteps } from './clock-steps.js';
import type { TrustSource } from './controllers/access/root-ca-publisher.js';
import { CreateRefusals } from './controllers/daemonsets/create-refusals.js';
import { EventRecorder } from './controllers/events/event-recorder.js';
import { type RunningControllers, startControllers } from './controllers/index.js';
import { QuotaLedger } from './controllers/policy/quota-ledger.js';
import { registryPolicies } from './controllers/policy/registry-policies.js';
import type { QueueMeter } from './controllers/queue/reconcile-worker.js';
import { ActiveRollouts } from './controllers/rollouts/rollout-constraints.js';
import type { EvictionRates } from './decisions/nodes/zone-health.js';
import { Hub, type HubOptions } from './hub/hub.js';
import { nodeLeases } from './hub/reports/node-leases.js';
import { ObjectSigner } from './hub/restore/object-signer.js';
import { NodeLiveness } from './hub/sessions/node-liveness.js';
import { createInformers } from './informers/create-informers.js';
import type { Informers } from './informers/informer.js';
import { ALL_KINDS, leaseKind } from './kinds/index.js';
import type { Kind, VirtualReader } from './kinds/kind.js';
import {
  DEFAULT_NODE_PORT_RANGE,
  DEFAULT_SERVICE_CIDR,
  readPortRange,
  readServiceCidr,
} from './registry/allocation/number-range.js';
import { ServiceAllocator } from './registry/allocation/service-allocator.js';
import { createRegistry } from './registry/create-registry.js';
import type { EventStore } from './registry/events/event-store.js';
import type { Registry } from './registry/registry.js';
import { RestoreState } from './restore-state.js';
import type { Store } from './store/store.js';
import { callWebhookServer } from './webhook-caller.js';

/** The environment of the core: a real machine or a simulation. */
interface CoordinatorCoreDeps {
  store: Store;
  eventStore: EventStore;
  /** Signs the objects that hosts return after a restore. */
  objectMacKey: Buffer;
  authority: HubOptions['authority'];
  /** The certificates of the API and the keys of ServiceAccount tokens. Absent: there is no API. */
  credentials?: { trust: TrustSource; signingKeys: readonly [SigningKey, ...SigningKey[]] };
  /** True if an operator must approve each new node. */
  approveNodes?: boolean;
  /** The addresses of all coordinators, the leader first. Absent if there is one coordinator. */
  coordinatorList?: NonNullable<HubOptions['coordinators']>;
  /** Time without contact after which a node's state is Unknown. */
  nodeMonitorGraceMs: number;
  /** Time after the start in which nodes may reconnect before the grace period starts. Default 75 s. */
  nodeStartupGraceMs?: number;
  /** Rate at which NotReady nodes are emptied. Default: upstream's. */
  evictionRates?: EvictionRates;
  /** Addresses of Services: an IPv4 range or `off`. */
  serviceCidr?: string;
  serviceNodePortRange?: string;
  clock: Clock;
  random?: Random;
  /** Counts the controllers' queues. */
  queueMeter?: QueueMeter;
  /** Called with the zone of a node whose Pods are evicted. */
  onEviction?: (zone: string) => void;
  log: Logger;
}

export interface CoordinatorCore {
  registry: Registry;
  informers: Informers;
  hub: Hub;
  restore: RestoreState;
  activeRollouts: ActiveRollouts;
  refusals: CreateRefusals;
  /** Last contact of each node. */
  liveness: NodeLiveness;
  clockSteps: ClockSteps;
  /**
   * Start them in order and stop them in reverse, before the store and after everything that uses them. The hub is
   * stopped separately.
   */
  components: Component[];
}

/** An agent's longest pause between two connection attempts, with its jitter. */
const DEFAULT_STARTUP_GRACE_MS = 75_000;

/** Builds the core. Informers and hub work at once, controllers when their component is started. */
export function createCoordinatorCore(host: CoordinatorCoreDeps): CoordinatorCore {
  const { store, log } = host;
  const steps = new ClockSteps({ clock: host.clock, log });
  const { clock, timeOf } = steps;
  const { liveness, registry, informers, quotas } = createStorage(host, clock, () => hub.streams);
  const { eventStore } = host;
  const events = new EventRecorder({ eventStore, informers, clock });
  const activeRollouts = new ActiveRollouts();
  const refusals = new CreateRefusals();
  const shared = { registry, informers, events, clock, log };
  const restore = new RestoreState(store, log);
  const history = { epoch: store.epoch(), pastEpochs: store.pastEpochs() };
  const hub: Hub = new Hub({
    ...shared,
    liveness,
    clusterUID: store.clusterUID(),
    epoch: history.epoch,
    signer: new ObjectSigner(host.objectMacKey, history),
    authority: host.authority,
    approveNodes: host.approveNodes ?? false,
    ...(host.coordinatorList ? { coordinators: host.coordinatorList } : {}),
    restore,
    recordEvent: {
      asNodeController: events.forComponent('node-controller'),
      asAgent: events.forComponent('kubelet'),
    },
  });
  const controllers = new ControllersComponent({
    ...(host.queueMeter ? { queueMeter: host.queueMeter } : {}),
    ...(host.onEviction ? { onEviction: host.onEviction } : {}),
    ...(host.credentials ? { credentials: apiCredentials(host.credentials, registry, clock) } : {}),
    ...{ ...shared, rollouts: activeRollouts, refusals, timeOf, quotas },
    resync: hub.resync,
    ...(host.evictionRates ? { rates: host.evictionRates } : {}),
    ...(history.pastEpochs.length > 0 ? { restoredEpoch: history.epoch } : {}),
    ...(store.isUnconfirmed() ? { startAfter: restore.confirmed } : {}),
  });
  steps.onStep((deltaMs) => hub.onClockStep(deltaMs));
  steps.onStep(() => controllers.onClockStep());
  const components: Component[] = [
    steps,
    { name: 'informers', stop: () => informers.stop() },
    { name: 'events', stop: () => eventStore.close() },
    controllers,
  ];
  return {
    registry,
    informers,
    hub,
    restore,
    activeRollouts,
    refusals,
    liveness,
    components,
    clockSteps: steps,
  };
}

/**
 * The informers watch the registry, and the registry reads the informers when it serves a request. So the registry and
 * the liveness get functions that read the informers later.
 */
function createStorage(host: CoordinatorCoreDeps, clock: Clock, streams: () => PodStreams) {
  const { store, eventStore, log, nodeMonitorGraceMs: graceMs, random = systemRandom } = host;
  const liveness = new NodeLiveness(clock, {
    graceMs,
    graceOf: (name) => {
      const node = informers.nodes.get({ name });
      return node ? nodeGraceMs(node.metadata, graceMs) : graceMs;
    },
    returnMs: host.nodeStartupGraceMs ?? DEFAULT_STARTUP_GRACE_MS,
  });
  const leases = nodeLeases({
    liveness,
    createdAt: (name) => informers.nodes.get({ name })?.metadata.creationTimestamp ?? undefined,
  });
  const registry = createRegistry({
    store,
    events: eventStore,
    kinds: kindsServed(leases),
    clock,
    random,
    log,
    caughtUp: async () => informers.waitFor(await store.revision()),
    findAccount: (ref) => informers.serviceAccounts.get(ref),
    services: new ServiceAllocator({
      addresses: readServiceCidr(host.serviceCidr ?? DEFAULT_SERVICE_CIDR),
      ports: readPortRange(host.serviceNodePortRange ?? DEFAULT_NODE_PORT_RANGE),
      services: () => informers.services.list(),
      caughtUp: async () => informers.waitFor(await store.revision()),
      waitFor: (revision) => informers.waitFor(revision),
      random,
    }),
    priorityClasses: {
      get: (ref) => informers.priorityClasses.get(ref),
      list: () => informers.priorityClasses.list(),
    },
    ...registryPolicies(() => ({ informers, quotas })),
    policies: cachedAdmissionPolicies(() => informers),
    webhooks: cachedAdmissionWebhooks(() => informers, {
      call: (...call) => callWebhookServer({ informers: () => informers, streams, clock }, ...call),
      uid: () => random.uuid(),
    }),
  });
  const informers = createInformers({ registry, clock, log });
  const quotas = new QuotaLedger(informers, registry.kinds);
  return { liveness, registry, informers, quotas };
}

class ControllersComponent implements Component {
  readonly name = 'controllers';
  readonly #options: Parameters<typeof startControllers>[0];
  #running: RunningControllers | undefined;

  constructor(options: Parameters<typeof startControllers>[0]) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#running = await startControllers(this.#options);
  }

  onClockStep(): void {
    this.#running?.onClockStep();
  }

  stop(): void | Promise<void> {
    return this.#running?.stop();
  }
}

function apiCredentials(
  { trust, signingKeys: keys }: NonNullable<CoordinatorCoreDeps['credentials']>,
  registry: Registry,
  clock: Clock,
) {
  return { trust, tokens: new ServiceAccountTokens({ keys, registry, clock, random: systemRandom }) };
}

/** Returns all kinds. Leases of nodes are computed from the liveness instead of the store. */
function kindsServed(reader: VirtualReader<Lease>): readonly Kind[] {
  const leases = { ...leaseKind, reader } as Kind;
  return ALL_KINDS.map((kind) => (kind.kind === leaseKind.kind ? leases : kind));
}
