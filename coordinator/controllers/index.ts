/** Which controllers run. */

import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { EvictionRates } from '../decisions/nodes/zone-health.js';
import type { Informers } from '../informers/informer.js';
import type { Registry } from '../registry/registry.js';
import { ensureBuiltInRoles } from './access/built-in-roles.js';
import { DefaultServiceAccounts } from './access/default-service-accounts.js';
import { RoleAggregation } from './access/role-aggregation.js';
import { CreateRefusals } from './daemonsets/create-refusals.js';
import { startDaemonSetController } from './daemonsets/daemonset-controller.js';
import type { ResyncStatus } from './daemonsets/daemonset-deps.js';
import type { EventRecorder } from './events/event-recorder.js';
import { GarbageCollector } from './gc/garbage-collector.js';
import { NamespaceController } from './gc/namespace-controller.js';
import { PodGarbageCollector } from './gc/pod-garbage-collector.js';
import { NodeLifecycle } from './nodes/node-lifecycle.js';
import { NodeReservations } from './nodes/node-reservations.js';
import { Scheduler } from './nodes/scheduler.js';
import { TaintEviction } from './nodes/taint-eviction.js';
import type { QueueMeter } from './queue/reconcile-worker.js';
import { ActiveRollouts } from './rollouts/rollout-constraints.js';

interface ControllersOptions {
  registry: Registry;
  informers: Informers;
  events: EventRecorder;
  /** Absent: nobody explains. */
  rollouts?: ActiveRollouts;
  /** The same. */
  refusals?: CreateRefusals;
  /** Set once the store was restored: see `DaemonSetParts`. */
  restoredEpoch?: string;
  /** Absent: all hosts were heard. */
  resync?: ResyncStatus;
  /** How fast nodes that are not ready are emptied; upstream's when absent. */
  rates?: EvictionRates;
  /** Told of each worker's queue; absent: nobody counts. */
  queueMeter?: QueueMeter;
  /** Told of a node that is being emptied, by its zone. */
  onEviction?: (zone: string) => void;
  clock: Clock;
  /** As in `DaemonSetParts`. */
  timeOf?: (stored: string) => number;
  log: Logger;
  /** Until this resolves no controller creates, replaces or deletes a Pod, nor anything else; absent = never held back. */
  startAfter?: Promise<void>;
}

/** Something that runs until it is stopped. */
interface Controller {
  /** The wall clock was set: what was reckoned by it is reckoned anew. */
  onClockStep?(): void;
  stop(): Promise<void> | void;
}

/** All controllers. */
export interface RunningControllers {
  onClockStep(): void;
  stop(): Promise<void>;
}

/** Starts all controllers once the caches are filled; `stop` resolves when none is at work any more. */
export async function startControllers(options: ControllersOptions): Promise<RunningControllers> {
  const { informers, events, startAfter, log } = options;
  await informers.nodes.synced();
  const running: Controller[] = [
    new NodeLifecycle({ ...options, recordEvent: events.forComponent('node-controller') }),
  ];
  let isStopped = false;
  const startOthers = async () => {
    if (isStopped) return;
    const namespaces = new NamespaceController(options);
    running.push(
      namespaces,
      new DefaultServiceAccounts(options),
      new RoleAggregation(options),
      ...startActors(options),
    );
    await Promise.all([namespaces.start(), ensureBuiltInRoles(options.registry)]);
  };
  if (startAfter) {
    startAfter.then(startOthers).catch((error) => log.error({ err: error }, 'controllers did not start'));
  } else {
    await startOthers();
  }
  return {
    onClockStep: () => {
      for (const controller of running) controller.onClockStep?.();
    },
    stop: async () => {
      isStopped = true;
      await Promise.all(running.map((controller) => controller.stop()));
    },
  };
}

/** Those whose decisions reach containers. They are level-triggered: what happened before their start they see then. */
function startActors(options: ControllersOptions): Controller[] {
  const { informers, events, rollouts = new ActiveRollouts(), refusals = new CreateRefusals() } = options;
  const schedulerEvents = events.forComponent('default-scheduler');
  const ledger = new NodeReservations({ informers, recordEvent: schedulerEvents });
  return [
    new TaintEviction({ ...options, recordEvent: events.forComponent('taint-eviction-controller') }),
    new PodGarbageCollector(options),
    new GarbageCollector(options),
    new Scheduler({ ...options, reservations: ledger, recordEvent: schedulerEvents }),
    startDaemonSetController({
      ...options,
      activeRollouts: rollouts,
      refusals,
      reservations: ledger,
      recordEvent: events.forComponent('daemonset-controller'),
      recordRolloutEvent: events.forComponent('rollout-controller'),
    }),
  ];
}
