/** What the DaemonJob controller needs. */
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import type { Informers } from '../../informers/informer.js';
import type { Registry } from '../../registry/registry.js';
import type { QueueMeter } from '../queue/reconcile-worker.js';

export interface DaemonJobDeps {
  registry: Pick<Registry, 'create' | 'modify' | 'writeStatus' | 'delete'>;
  informers: Pick<
    Informers,
    'pods' | 'nodes' | 'daemonJobs' | 'daemonJobResults' | 'rolloutPolicies' | 'waitFor'
  >;
  clock: Clock;
  log: Logger;
  queueMeter?: QueueMeter;
  /** Set if the store was restored. No Pod is created on a host that has not resynced in this epoch. */
  restoredEpoch?: string;
  /** Component `daemonjob-controller`. */
  recordEvent: RecordEvent;
}
