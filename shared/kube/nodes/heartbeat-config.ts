/** How often a host shows life on its link, and what it saves: by a label of its Node, or an annotation. */
import { FLEET_GROUP } from '../objects/fleet-group.js';

/** Label of a Node whose link is paid for by the byte: `metered`. A host gives it to itself with `lowData`. */
export const LINK_LABEL = `${FLEET_GROUP}/link`;
export const METERED = 'metered';

/** Annotation of a Node: seconds between heartbeats, from 1 to 3600, whatever the label says. */
export const HEARTBEAT_ANNOTATION = `${FLEET_GROUP}/heartbeat-seconds`;

export interface HeartbeatConfig {
  /** Between two heartbeats. */
  heartbeatMs: number;
  /** Silence after which the other end counts as gone. */
  silenceMs: number;
  /** How long what changed waits for what else changes; 0: not at all. */
  batchMs: number;
  /** Messages may be compressed. */
  compress: boolean;
}

const BEAT_MS = 10_000;
/** A heartbeat may be late by half. */
const SILENT_BEATS = 1.5;

/** Carriers drop mappings of silent connections after some minutes; below that, each heartbeat is money. */
const METERED_BEAT_MS = 120_000;
const METERED_MERGE_MS = 10_000;

/** Of a link of which nothing else is said. */
export const STANDARD_HEARTBEAT: HeartbeatConfig = paced(BEAT_MS, false);

function paced(heartbeatMs: number, isMetered: boolean): HeartbeatConfig {
  return {
    heartbeatMs: heartbeatMs,
    silenceMs: heartbeatMs * SILENT_BEATS,
    batchMs: isMetered ? METERED_MERGE_MS : 0,
    compress: isMetered,
  };
}

/** What a Node's label and annotation ask for. An annotation that is no such number counts as absent. */
export function heartbeatConfigOf({
  labels,
  annotations,
}: {
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
}): HeartbeatConfig {
  const isMetered = labels?.[LINK_LABEL] === METERED;
  const seconds = parseHeartbeatSeconds(annotations?.[HEARTBEAT_ANNOTATION]);
  const heartbeatMs = seconds === undefined ? undefined : seconds * 1_000;
  return paced(heartbeatMs ?? (isMetered ? METERED_BEAT_MS : BEAT_MS), isMetered);
}

/** The annotation's number; undefined when it is none from 1 to 3600. */
export function parseHeartbeatSeconds(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,4}$/.test(text)) return undefined;
  const seconds = Number(text);
  return seconds >= 1 && seconds <= 3_600 ? seconds : undefined;
}

/** The grace stretches with the heartbeats: so many may be missed, as on any other link. `fleetGraceMs` is that of a standard one. */
export function scaledGraceMs({ heartbeatMs }: HeartbeatConfig, fleetGraceMs: number): number {
  return Math.max(fleetGraceMs, Math.round((fleetGraceMs / BEAT_MS) * heartbeatMs));
}
