/** Dependencies of the Deployment and ReplicaSet controllers. */
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import type { Informers } from '../../informers/informer.js';
import type { Registry } from '../../registry/registry.js';
import type { QueueMeter } from '../queue/reconcile-worker.js';

export interface WorkloadDeps {
  registry: Pick<Registry, 'get' | 'create' | 'modify' | 'writeStatus' | 'delete'>;
  informers: Informers;
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
  /** Absent: no metrics. */
  queueMeter?: QueueMeter;
}

/** The present time for statuses. */
export function statusTime({ clock }: WorkloadDeps): { now: number; stamp: string } {
  return { now: clock.now(), stamp: toTimestamp(clock.now()) };
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
