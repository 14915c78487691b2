/** Heartbeats and traffic savings of a host's link, configured by a label or annotation of its Node. */
import { FLEET_GROUP } from '../objects/meta.js';

/** Label of a Node; `metered` marks a link billed by volume. Agents with `lowData` set it themselves. */
export const LINK_LABEL = `${FLEET_GROUP}/link`;
export const METERED = 'metered';

/** Annotation of a Node: seconds between heartbeats, from 1 to 3600. It overrides the label. */
export const HEARTBEAT_ANNOTATION = `${FLEET_GROUP}/heartbeat-seconds`;

export interface HeartbeatConfig {
  heartbeatMs: number;
  /** Time without received bytes after which the connection counts as lost. */
  silenceMs: number;
  /** Time for which changes are collected before they are sent. 0: changes are sent at once. */
  batchMs: number;
  compress: boolean;
}

const HEARTBEAT_MS = 10_000;
/** A heartbeat may be late by half an interval. */
const SILENT_HEARTBEATS = 1.5;

/** Mobile carriers drop NAT mappings after some minutes of silence. A shorter interval only costs traffic. */
const METERED_HEARTBEAT_MS = 120_000;
const METERED_BATCH_MS = 10_000;

/** Configuration of links without label and annotation. */
export const STANDARD_HEARTBEAT: HeartbeatConfig = configOf(HEARTBEAT_MS, false);

function configOf(heartbeatMs: number, isMetered: boolean): HeartbeatConfig {
  return {
    heartbeatMs: heartbeatMs,
    silenceMs: heartbeatMs * SILENT_HEARTBEATS,
    batchMs: isMetered ? METERED_BATCH_MS : 0,
    compress: isMetered,
  };
}

/** Returns the configuration that the Node's label and annotation request. An invalid annotation is ignored. */
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
  return configOf(heartbeatMs ?? (isMetered ? METERED_HEARTBEAT_MS : HEARTBEAT_MS), isMetered);
}

/** Returns the annotation's number, or undefined if it is not an integer from 1 to 3600. */
export function parseHeartbeatSeconds(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,4}$/.test(text)) return undefined;
  const seconds = Number(text);
  return seconds >= 1 && seconds <= 3_600 ? seconds : undefined;
}

/** Scales the fleet's grace period, so that every link may miss the same number of heartbeats. */
export function scaledGraceMs({ heartbeatMs }: HeartbeatConfig, fleetGraceMs: number): number {
  return Math.max(fleetGraceMs, Math.round((fleetGraceMs / HEARTBEAT_MS) * heartbeatMs));
}
