import type { KubeObject } from '../../shared/kube/meta.js';

/** Tells of one occurrence on an object; whoever is handed in counts and combines (`controllers/event-recorder.ts`). */
export type RecordEvent = (
  about: KubeObject,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
) => void;
