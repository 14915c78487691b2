/** What the controllers of DaemonSets share. */

import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Informers } from '../../informers/informer.js';
import type { Registry } from '../../registry/registry.js';
import type { RecordEvent } from '../events/event-recorder.js';
import type { PodReservations } from '../nodes/node-reservations.js';
import type { QueueMeter } from '../queue/reconcile-worker.js';
import type { ActiveRollouts } from '../rollouts/rollout-constraints.js';
import type { CreateRefusals } from './create-refusals.js';

export interface ResyncStatus {
  /** The host has yet to tell how its Pods do, and may soon. One that is known to be out of contact is awaited by nobody. */
  isAwaitingResync(node: string): boolean;
  /** When it was heard first, ms since the epoch; undefined: it has not been heard. */
  resyncedAt(node: string): number | undefined;
  /** Hears of each host that was heard for the first time. */
  onResynced(handler: (node: string) => void): void;
}

/** Their collaborators. */
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
  informers: Pick<
    Informers,
    'pods' | 'nodes' | 'daemonSets' | 'controllerRevisions' | 'rolloutPolicies' | 'rollouts' | 'waitFor'
  >;
  reservations: PodReservations;
  /** Where rollouts by waves say how they stand. */
  activeRollouts: ActiveRollouts;
  /** Where refused creates of Pods are recorded for `why`. */
  refusals: CreateRefusals;
  /** The store's epoch, when it was restored: Pods are made on those nodes only whose hosts were heard in it (`RESYNCED_IN_EPOCH`). */
  restoredEpoch?: string;
  /** Absent: all hosts were heard. */
  heard?: ResyncStatus;
  /** Absent: nobody counts. */
  queueMeter?: QueueMeter;
  clock: Clock;
  /** What a stored time means since the clock was set, ms since the epoch; absent: what it says. */
  timeOf?: (stored: string) => number;
  log: Logger;
  /** As component `daemonset-controller`. */
  recordEvent: RecordEvent;
  /** As component `rollout-controller`: what it says is not to drown in the Pods' Events. */
  recordRolloutEvent: RecordEvent;
}
