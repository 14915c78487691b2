/** Grace periods of single nodes, such as hosts that only connect once a day. */

import { parseGoDuration } from '../objects/go-duration.js';
import { FLEET_GROUP } from '../objects/meta.js';
import { heartbeatConfigOf, scaledGraceMs } from './heartbeat-config.js';

/** Annotation or label of a Node, such as `36h`. Hosts may set the label; the annotation takes precedence. */
export const GRACE_KEY = `${FLEET_GROUP}/grace-period`;

const MIN_MS = 1_000;
/** 24 days. Timers cannot run longer. */
const MAX_MS = 24 * 24 * 3_600_000;

interface Metadata {
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
}

/** Returns what is wrong with the text, or undefined. */
export function graceProblem(text: string): string | undefined {
  const ms = parseGoDuration(text);
  return ms !== undefined && ms >= MIN_MS && ms <= MAX_MS
    ? undefined
    : 'must be a duration from 1s to 576h, such as 90s or 36h';
}

/** Returns the Node's own grace period in milliseconds, or undefined if there is none or if it is invalid. */
export function ownGraceMs({ labels, annotations }: Metadata): number | undefined {
  const text = annotations?.[GRACE_KEY] ?? labels?.[GRACE_KEY];
  return text === undefined || graceProblem(text) ? undefined : parseGoDuration(text);
}

/** Returns milliseconds: the Node's own grace period, or the fleet's, scaled with the heartbeat interval. */
export function nodeGraceMs(metadata: Metadata, fleetGraceMs: number): number {
  return ownGraceMs(metadata) ?? scaledGraceMs(heartbeatConfigOf(metadata), fleetGraceMs);
}
