/** The coordinator without its surroundings: what stands between the store, the API and the agents' sockets, wired together. */

import { nodeGraceMs } from '../shared/kube/nodes/node-grace-period.js';
import type { Lease } from '../shared/kube/objects/event-types.js';
import type { Logger } from '../shared/process/output/logger.js';
import type { Component } from '../shared/process/service/program-lifecycle.js';
import type { Clock } from '../shared/process/time/clock.js';
import { type Random, systemRandom } from '../shared/process/time/random.js';
import { ClockSteps } from './clock-steps.js';
import { CreateRefusals } from './controllers/daemonsets/create-refusals.js';
import { EventRecorder } from './controllers/events/event-recorder.js';
import { type RunningControllers, startControllers } from './controllers/index.js';
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
import { createRegistry } from './registry/create-registry.js';
import type { Registry } from './registry/registry.js';
import { RestoreState } from './restore-state.js';
import type { Store } from './store/store.js';

/** What a coordinator stands on: a real machine's, or one that is pretended. */
interface CoordinatorCoreDeps {
  store: Store;
  /** `loadSealKey`. */
  objectMacKey: Buffer;
  /** Signs hosts' certificates. */
  authority: HubOptions['authority'];
  /** True when each new node waits for a person's word. */
  approveNodes?: boolean;
  /** How long a node may be silent before its state is unknown. */
  nodeMonitorGraceMs: number;
  /** How long after our own start nodes may take to come back before the grace begins; 75 s when absent. */
  nodeStartupGraceMs?: number;
  /** How fast nodes that are not ready are emptied; upstream's when absent. */
  evictionRates?: EvictionRates;
  clock: Clock;
  random?: Random;
  /** Told of the controllers' queues. */
  queueMeter?: QueueMeter;
  /** Told of a node that is being emptied, by its zone. */
  onEviction?: (zone: string) => void;
  /** Told that the wall clock was set. */
  onClockStep?: () => void;
  log: Logger;
}

export interface CoordinatorCore {
  registry: Registry;
  informers: Informers;
  hub: Hub;
  restore: RestoreState;
  activeRollouts: ActiveRollouts;
  refusals: CreateRefusals;
  /** Who is heard. */
  liveness: NodeLiveness;
  /** For how long the wall clock has not been set, ms. */
  sinceClockStepMs: () => number;
  /** To start in order and stop in reverse, before the store and after everything that uses them; the hub stops by itself. */
  components: Component[];
}

/** After a start, agents may take so long to come back (their longest wait between two tries, and the spread), ms. */
const RETURN_MS = 75_000;

/** Builds the core; informers and hub work from now on, controllers from the start of their part. */
export function createCoordinatorCore(host: CoordinatorCoreDeps): CoordinatorCore {
  const { store, log, nodeMonitorGraceMs: graceMs, random: chance = systemRandom } = host;
  const onStep = (byMs: number) => {
    hub.onClockStep(byMs);
    controllers?.onClockStep();
    host.onClockStep?.();
  };
  const steps = new ClockSteps({ clock: host.clock, log, onStep });
  const { clock, timeOf } = steps;
  const presence = new NodeLiveness(clock, {
    graceMs,
    graceOf: (name) => {
      const node = informers.nodes.get({ name });
      return node ? nodeGraceMs(node.metadata, graceMs) : graceMs;
    },
    returnMs: host.nodeStartupGraceMs ?? RETURN_MS,
  });
  const leases = nodeLeases({
    liveness: presence,
    createdAt: (name) => informers.nodes.get({ name })?.metadata.creationTimestamp ?? undefined,
  });
  const registry = createRegistry({
    store,
    kinds: kindsServed(leases),
    clock,
    random: chance,
    log,
    findAccount: (ref) => informers.serviceAccounts.get(ref),
  });
  const informers = createInformers({ registry, clock, log });
  const events = new EventRecorder({ registry, clock, log });
  const rollouts = new ActiveRollouts();
  const refusals = new CreateRefusals();
  const shared = { registry, informers, events, clock, log };
  const restore = new RestoreState(store, log);
  const history = { epoch: store.epoch(), pastEpochs: store.pastEpochs() };
  const hub = new Hub({
    ...shared,
    liveness: presence,
    clusterUID: store.clusterUID(),
    epoch: history.epoch,
    signer: new ObjectSigner(host.objectMacKey, history),
    authority: host.authority,
    approveNodes: host.approveNodes ?? false,
    restore,
    recordEvent: {
      asNodeController: events.forComponent('node-controller'),
      asAgent: events.forComponent('kubelet'),
    },
  });
  const startAfter = store.isUnconfirmed() ? { startAfter: restore.confirmed } : {};
  const restoredEpoch = history.pastEpochs.length > 0 ? { restoredEpoch: history.epoch } : {};
  let controllers: RunningControllers | undefined;
  const parts: Component[] = [
    steps,
    { name: 'informers', stop: () => informers.stop() },
    { name: 'events', stop: () => events.stop() },
    {
      name: 'controllers',
      start: async () => {
        controllers = await startControllers({
          ...(host.queueMeter ? { queueMeter: host.queueMeter } : {}),
          ...(host.onEviction ? { onEviction: host.onEviction } : {}),
          ...{ ...shared, rollouts, refusals, timeOf },
          resync: hub.resync,
          ...(host.evictionRates ? { rates: host.evictionRates } : {}),
          ...restoredEpoch,
          ...startAfter,
        });
      },
      stop: () => controllers?.stop(),
    },
  ];
  return {
    ...{
      registry,
      informers,
      hub,
      restore,
      activeRollouts: rollouts,
      refusals,
      liveness: presence,
      components: parts,
    },
    sinceClockStepMs: () => steps.sinceStepMs(),
  };
}

/** All kinds, with node Leases read from presence instead of the store. */
function kindsServed(reader: VirtualReader<Lease>): readonly Kind[] {
  const leases = { ...leaseKind, reader };
  return ALL_KINDS.map((kind) => (kind.resource === leaseKind.resource ? (leases as Kind) : kind));
}
