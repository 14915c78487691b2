/** The core of a coordinator: memory store, registry and informers, on a clock that the test advances. */
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  cachedAdmissionPolicies,
  cachedAdmissionWebhooks,
} from '../../../coordinator/access/cached-admission-policies.js';
import { EventRecorder } from '../../../coordinator/controllers/events/event-recorder.js';
import { QuotaLedger } from '../../../coordinator/controllers/policy/quota-ledger.js';
import { registryPolicies } from '../../../coordinator/controllers/policy/registry-policies.js';
import { createInformers } from '../../../coordinator/informers/create-informers.js';
import type { Informers } from '../../../coordinator/informers/informer.js';
import { ALL_KINDS, eventKind, namespaceKind, nodeKind } from '../../../coordinator/kinds/index.js';
import {
  DEFAULT_NODE_PORT_RANGE,
  DEFAULT_SERVICE_CIDR,
  readPortRange,
  readServiceCidr,
} from '../../../coordinator/registry/allocation/number-range.js';
import { ServiceAllocator } from '../../../coordinator/registry/allocation/service-allocator.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import { type EventStore, openEventStore } from '../../../coordinator/registry/events/event-store.js';
import type { AdmissionWebhooks, FindAccount, Registry } from '../../../coordinator/registry/registry.js';
import type { PastEpoch, Store } from '../../../coordinator/store/store.js';
import type { NodeStatus } from '../../../shared/kube/nodes/node-types.js';
import type { KubeEvent } from '../../../shared/kube/objects/event-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { systemRandom } from '../../../shared/process/time/random.js';
import { type NodeOptions, nodeObject } from '../objects/object-builders.js';
import { MemoryStore } from './memory-store.js';

/** 2026-01-01T00:00:00Z */
const START_MS = 1_767_225_600_000;

export interface ControlPlane {
  store: Store;
  registry: Registry;
  informers: Informers;
  eventStore: EventStore;
  events: EventRecorder;
  quotas: QuotaLedger;
  clock: ManualClock;
  log: typeof silentLogger;
  /** Runs everything that is ready. */
  settle(): Promise<void>;
  /** Advances the clock and runs everything that is due. */
  advance(ms: number): Promise<void>;
  /** Returns `reason: message` of the Events about an object, in order. */
  eventsAbout(name: string): Promise<string[]>;
  stop(): Promise<void>;
}

interface PlaneOptions {
  accounts?: boolean;
  serviceCidr?: string;
  nodePorts?: string;
  /** The answers of admission webhooks. */
  callWebhook?: AdmissionWebhooks['call'];
}

/** Starts a control plane with the namespace `default`. `accounts` enables the check of Pods' ServiceAccounts. */
export async function startControlPlane(
  pastEpochs: readonly PastEpoch[] = [],
  {
    accounts = false,
    serviceCidr = DEFAULT_SERVICE_CIDR,
    nodePorts = DEFAULT_NODE_PORT_RANGE,
    callWebhook,
  }: PlaneOptions = {},
): Promise<ControlPlane> {
  const clock = new ManualClock(START_MS);
  const store = new MemoryStore({ clock, pastEpochs: pastEpochs });
  const parts = { clock, log: silentLogger };
  const eventStore = await openEventStore({ main: store, ...parts });
  const findAccount: FindAccount = (ref) => informers.serviceAccounts.get(ref);
  const registry: Registry = createRegistry({
    ...{ store, events: eventStore, kinds: ALL_KINDS, ...parts },
    ...(accounts ? { findAccount } : {}),
    services: new ServiceAllocator({
      addresses: readServiceCidr(serviceCidr),
      ports: readPortRange(nodePorts),
      services: () => informers.services.list(),
      caughtUp: async () => informers.waitFor(await store.revision()),
      waitFor: (revision) => informers.waitFor(revision),
      random: systemRandom,
    }),
    priorityClasses: {
      get: (ref) => informers.priorityClasses.get(ref),
      list: () => informers.priorityClasses.list(),
    },
    ...registryPolicies(() => ({ informers, quotas })),
    policies: cachedAdmissionPolicies(() => informers),
    ...(callWebhook
      ? { webhooks: cachedAdmissionWebhooks(() => informers, { call: callWebhook, uid: systemRandom.uuid }) }
      : {}),
  });
  const informers: ReturnType<typeof createInformers> = createInformers({ registry, ...parts });
  const quotas = new QuotaLedger(informers, registry.kinds);
  await informers.waitFor(0);
  await registry.create(namespaceKind, undefined, { metadata: { name: 'default' } });
  await informers.waitFor(await store.revision());
  const events = new EventRecorder({ eventStore, informers, clock });
  const settle = async (): Promise<void> => {
    // The memory store answers within a few event loop turns. Two idle rounds in a row mean that no work is left.
    for (let quiet = 0; quiet < 2; ) {
      const before = await store.revision();
      for (let turn = 0; turn < 10; turn++) await nextTurn();
      await informers.waitFor(before);
      quiet = (await store.revision()) === before ? quiet + 1 : 0;
    }
  };
  return {
    store,
    registry,
    informers,
    eventStore,
    events,
    quotas,
    ...parts,
    settle,
    advance: async (ms) => {
      clock.advance(ms);
      await settle();
    },
    eventsAbout: async (name) => {
      const { records } = await registry.list(eventKind);
      return records
        .map((record): KubeEvent => record.object())
        .filter((event) => event.involvedObject.name === name)
        .map((event) => `${event.reason}: ${event.message}`);
    },
    stop: async () => {
      await eventStore.close();
      await informers.stop();
      await store.close();
    },
  };
}

/** Creates a Node with its status, as a hub does at the first hello. */
export async function joinNode(plane: ControlPlane, name: string, options: NodeOptions = {}): Promise<void> {
  const object = nodeObject(name, options);
  await plane.registry.create(nodeKind, undefined, object);
  await writeNodeStatus(plane, name, object.status ?? {});
}

/** Writes a Node's status and runs all reactions to it. */
async function writeNodeStatus(plane: ControlPlane, name: string, status: NodeStatus): Promise<void> {
  await plane.registry.modify(
    nodeKind,
    { name },
    (node) => {
      node.status = { ...node.status, ...status };
      return undefined;
    },
    { subresource: 'status' },
  );
  await plane.settle();
}

/** Sets the Node's Ready condition. */
export function setReady(
  plane: ControlPlane,
  name: string,
  status: 'True' | 'False' | 'Unknown',
): Promise<void> {
  return writeNodeStatus(plane, name, { conditions: [{ type: 'Ready', status }] });
}

/** Registers a test with a new control plane. */
export function withControlPlane(rule: string, check: (plane: ControlPlane) => Promise<void>): void {
  test(rule, async () => {
    const plane = await startControlPlane();
    try {
      await check(plane);
    } finally {
      await plane.stop();
    }
  });
}
