import type { KubeObject } from '../../../shared/kube/objects/meta.js';

/** An occurrence that was counted elsewhere. Times in ms since the epoch, by our clock. */
export interface OccurrenceCount {
  count: number;
  firstAt: number;
  lastAt: number;
}

/** Tells of one occurrence on an object; whoever is handed in counts and combines (`controllers/events/event-recorder.ts`). */
export type RecordEvent = (
  about: KubeObject,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  counted?: OccurrenceCount,
) => void;
