/** Dependencies of the DaemonSet controllers. */

import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import type { Informers } from '../../informers/informer.js';
import type { Registry } from '../../registry/registry.js';
import type { PodReservations } from '../nodes/node-reservations.js';
import type { QueueMeter } from '../queue/reconcile-worker.js';
import type { ActiveRollouts } from '../rollouts/rollout-constraints.js';
import type { CreateRefusals } from './create-refusals.js';

/** Informers of all objects that decide what a DaemonSet's hosts run. */
export type DaemonSetInformers = Pick<
  Informers,
  | 'pods'
  | 'nodes'
  | 'daemonSets'
  | 'controllerRevisions'
  | 'rolloutPolicies'
  | 'rollouts'
  | 'hostValues'
  | 'daemonSetOverrides'
>;

export interface ResyncStatus {
  /**
   * The host has not reported since the start, but probably will soon. False for a host that is known to be offline.
   */
  isAwaitingResync(node: string): boolean;
  /** When the host first reported, in ms since the epoch. Undefined: it has not reported. */
  resyncedAt(node: string): number | undefined;
  /** `handler` is called once for each host that reports. */
  onResynced(handler: (node: string) => void): void;
}

export interface DaemonSetDeps {
  registry: Pick<
    Registry,
    | 'get'
    | 'create'
    | 'prepareTemplate'
    | 'createFromTemplate'
    | 'reviewFromTemplate'
    | 'modify'
    | 'writeStatus'
    | 'delete'
  >;
  informers: DaemonSetInformers & Pick<Informers, 'waitFor'>;
  reservations: PodReservations;
  /** Where rollouts publish their status. */
  activeRollouts: ActiveRollouts;
  /** Records refused creates of Pods for `why`. */
  refusals: CreateRefusals;
  /**
   * Set if the store was restored from a backup. Pods are created only on nodes whose host has reported since
   * (`RESYNCED_IN_EPOCH`).
   */
  restoredEpoch?: string;
  /** Absent: all hosts have reported. */
  resync?: ResyncStatus;
  /** Absent: no metrics. */
  queueMeter?: QueueMeter;
  clock: Clock;
  /** Converts a stored time to ms since the epoch, corrected for steps of the clock. Absent: no correction. */
  timeOf?: (stored: string) => number;
  log: Logger;
  /** Component `daemonset-controller`. */
  recordEvent: RecordEvent;
  /** Component `rollout-controller`, so that the Events of Pods do not hide those of rollouts. */
  recordRolloutEvent: RecordEvent;
}
