import type { KubeObject } from '../../../shared/kube/objects/meta.js';

/** An occurrence that a host has counted. Times in ms since the epoch, on the coordinator's clock. */
export interface OccurrenceCount {
  count: number;
  firstAt: number;
  lastAt: number;
}

/** Records one or several counted occurrences. `controllers/events/event-recorder.ts` writes them as Events. */
export type RecordEvent = (
  about: KubeObject,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  counted?: OccurrenceCount,
) => void;
