/** How long a node may be silent before nobody knows its state, where it differs from the fleet's: a ship that calls home once a day is not dead. */
import { FLEET_GROUP } from '../objects/fleet-group.js';
import { parseGoDuration } from '../objects/go-duration.js';
import { heartbeatConfigOf, scaledGraceMs } from './heartbeat-config.js';

/** Annotation of a Node, or its label, which a host may give itself: a duration such as `36h`. The annotation goes before the label. */
export const GRACE_KEY = `${FLEET_GROUP}/grace-period`;

const LEAST_MS = 1_000;
/** 24 days: timers count no further. */
const MOST_MS = 24 * 24 * 3_600_000;

interface Metadata {
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
}

/** What is wrong with such a text; undefined when nothing is. */
export function graceProblem(text: string): string | undefined {
  const ms = parseGoDuration(text);
  return ms !== undefined && ms >= LEAST_MS && ms <= MOST_MS
    ? undefined
    : 'must be a duration from 1s to 576h, such as 90s or 36h';
}

/** The Node's own grace, ms; undefined when it asks for none, or for one that cannot be. */
export function ownGraceMs({ labels, annotations }: Metadata): number | undefined {
  const text = annotations?.[GRACE_KEY] ?? labels?.[GRACE_KEY];
  return text === undefined || graceProblem(text) ? undefined : parseGoDuration(text);
}

/** How long the Node may be silent, ms: its own grace, else the fleet's, stretched with its heartbeats. */
export function nodeGraceMs(metadata: Metadata, fleetGraceMs: number): number {
  return ownGraceMs(metadata) ?? scaledGraceMs(heartbeatConfigOf(metadata), fleetGraceMs);
}
