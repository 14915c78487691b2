/** Which controllers run. */
import type { Clock } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/log.js';
import type { Informers } from '../informers/informer.js';
import type { Registry } from '../registry/registry.js';
import { startDaemonSetController } from './daemonset-controller.js';
import type { EventRecorder } from './event-recorder.js';
import { GarbageCollector } from './garbage-collector.js';
import { NamespaceController } from './namespace.js';
import { NodeLedger } from './node-ledger.js';
import { NodeLifecycle } from './node-lifecycle.js';
import { PodGarbageCollector } from './pod-garbage-collector.js';
import { Scheduler } from './scheduler.js';
import { TaintEviction } from './taint-eviction.js';

export interface ControllersOptions {
  registry: Registry;
  informers: Informers;
  events: EventRecorder;
  clock: Clock;
  log: Logger;
}

/** Something that runs until it is stopped. */
interface Controller {
  stop(): Promise<void> | void;
}

/** Starts all controllers once the caches are filled; `stop` resolves when none is at work any more. */
export async function startControllers(options: ControllersOptions): Promise<{ stop(): Promise<void> }> {
  const { informers, events } = options;
  await informers.nodes.synced();
  const schedulerEvents = events.from('default-scheduler');
  const ledger = new NodeLedger({ informers, recordEvent: schedulerEvents });
  const namespaces = new NamespaceController(options);
  await namespaces.start();
  const controllers: Controller[] = [
    namespaces,
    new NodeLifecycle({ ...options, recordEvent: events.from('node-controller') }),
    new TaintEviction({ ...options, recordEvent: events.from('taint-eviction-controller') }),
    new PodGarbageCollector(options),
    new GarbageCollector(options),
    new Scheduler({ ...options, ledger, recordEvent: schedulerEvents }),
    startDaemonSetController({
      ...options,
      reservations: ledger,
      recordEvent: events.from('daemonset-controller'),
    }),
  ];
  return {
    stop: async () => {
      await Promise.all(controllers.map((controller) => controller.stop()));
    },
  };
}
