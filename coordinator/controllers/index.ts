/** Starts and stops the controllers. */

import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { EvictionRates } from '../decisions/nodes/zone-health.js';
import type { Informers } from '../informers/informer.js';
import type { Registry } from '../registry/registry.js';
import { ensureBuiltInRoles } from './access/built-in-roles.js';
import { DefaultServiceAccounts } from './access/default-service-accounts.js';
import { RoleAggregation } from './access/role-aggregation.js';
import { RootCaPublisher, type TrustSource } from './access/root-ca-publisher.js';
import { ensureSystemPriorityClasses } from './access/system-priority-classes.js';
import { type SecretTokenIssuer, TokenSecrets } from './access/token-secrets.js';
import { DefinitionController } from './custom-resources/definition-controller.js';
import { CronDaemonJobController } from './daemonjobs/cron-daemonjob-controller.js';
import { DaemonJobController } from './daemonjobs/daemonjob-controller.js';
import { CreateRefusals } from './daemonsets/create-refusals.js';
import { startDaemonSetController } from './daemonsets/daemonset-controller.js';
import type { ResyncStatus } from './daemonsets/daemonset-deps.js';
import type { EventRecorder } from './events/event-recorder.js';
import { GarbageCollector } from './gc/garbage-collector.js';
import { NamespaceController } from './gc/namespace-controller.js';
import { PodGarbageCollector } from './gc/pod-garbage-collector.js';
import { CronJobController } from './jobs/cronjob-controller.js';
import { JobController } from './jobs/job-controller.js';
import { NodeLifecycle } from './nodes/node-lifecycle.js';
import { NodeReservations } from './nodes/node-reservations.js';
import { Scheduler } from './nodes/scheduler.js';
import { TaintEviction } from './nodes/taint-eviction.js';
import { DisruptionController } from './policy/disruption-controller.js';
import { QuotaController } from './policy/quota-controller.js';
import type { QuotaLedger } from './policy/quota-ledger.js';
import type { QueueMeter } from './queue/reconcile-worker.js';
import { ActiveRollouts } from './rollouts/rollout-constraints.js';
import { AllocationConflicts } from './services/allocation-conflicts.js';
import { startEndpointController } from './services/endpoint-controller.js';
import { startEndpointMirroring } from './services/endpoint-mirroring.js';
import { startWorkloadControllers } from './workloads/workload-controllers.js';

interface ControllersOptions {
  registry: Registry;
  informers: Informers;
  events: EventRecorder;
  /** Absent: no explanations. */
  rollouts?: ActiveRollouts;
  /** Absent: no explanations. */
  refusals?: CreateRefusals;
  /** Set if the store was restored: see `DaemonSetDeps`. */
  restoredEpoch?: string;
  /** Absent: there is no API, so neither `kube-root-ca.crt` nor token Secrets are written. */
  credentials?: ApiCredentials;
  /** Absent: all hosts count as resynced. */
  resync?: ResyncStatus;
  /** Eviction rates for nodes that are not ready. Default: upstream's. */
  rates?: EvictionRates;
  /** Absent: no quota is counted. */
  quotas?: QuotaLedger;
  queueMeter?: QueueMeter;
  /** Receives the zone of each node with a started eviction. */
  onEviction?: (zone: string) => void;
  clock: Clock;
  /** See `DaemonSetDeps`. */
  timeOf?: (stored: string) => number;
  log: Logger;
  /** Until this resolves, no controller except the node lifecycle writes anything. Absent: all start at once. */
  startAfter?: Promise<void>;
}

interface Controller {
  /** The wall clock was stepped, so deadlines have to be computed again. */
  onClockStep?(): void;
  stop(): Promise<void> | void;
}

export interface RunningControllers {
  onClockStep(): void;
  stop(): Promise<void>;
}

/** Starts all controllers once the caches are complete. `stop` resolves when all have ended. */
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
      new DefinitionController(options),
      ...startPublishers(options),
      ...startActors(options),
    );
    const { registry } = options;
    await Promise.all([
      namespaces.start(),
      ensureBuiltInRoles(registry),
      ensureSystemPriorityClasses(registry),
    ]);
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

/** What clients need to reach the API and to authenticate there. */
interface ApiCredentials {
  trust: TrustSource;
  tokens: SecretTokenIssuer;
}

function startPublishers({ credentials, ...options }: ControllersOptions): Controller[] {
  if (!credentials) return [];
  return [
    new RootCaPublisher({ ...options, ...credentials }),
    new TokenSecrets({ ...options, ...credentials }),
  ];
}

/**
 * Controllers that create, bind or delete Pods. They are level-triggered, so they catch up on changes from before their
 * start.
 */
function startActors(options: ControllersOptions): Controller[] {
  const { informers, events, rollouts = new ActiveRollouts(), refusals = new CreateRefusals() } = options;
  const schedulerEvents = events.forComponent('default-scheduler');
  const reservations = new NodeReservations({ informers, recordEvent: schedulerEvents });
  return [
    new TaintEviction({ ...options, recordEvent: events.forComponent('taint-eviction-controller') }),
    new PodGarbageCollector(options),
    ...(options.quotas ? [new QuotaController({ ...options, quotas: options.quotas })] : []),
    new DisruptionController({ ...options, recordEvent: events.forComponent('controllermanager') }),
    new AllocationConflicts({ ...options, recordEvent: events.forComponent('service-allocation') }),
    new GarbageCollector(options),
    new JobController({ ...options, recordEvent: events.forComponent('job-controller') }),
    new CronDaemonJobController({
      ...options,
      recordEvent: events.forComponent('crondaemonjob-controller'),
    }),
    new DaemonJobController({ ...options, recordEvent: events.forComponent('daemonjob-controller') }),
    new CronJobController({ ...options, recordEvent: events.forComponent('cronjob-controller') }),
    startEndpointController({
      ...options,
      recordEvent: events.forComponent('endpoint-slice-controller'),
    }),
    startEndpointMirroring(options),
    startWorkloadControllers({
      ...options,
      recordDeploymentEvent: events.forComponent('deployment-controller'),
      recordReplicaSetEvent: events.forComponent('replicaset-controller'),
    }),
    new Scheduler({ ...options, reservations, recordEvent: schedulerEvents }),
    startDaemonSetController({
      ...options,
      activeRollouts: rollouts,
      refusals,
      reservations,
      recordEvent: events.forComponent('daemonset-controller'),
      recordRolloutEvent: events.forComponent('rollout-controller'),
    }),
  ];
}
