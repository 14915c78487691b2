/** Load readings in the payload of heartbeat pings, which saves a message. The hub's pong echoes them. */

/** Utilisation in [0, 1]. Unknown values are absent. */
export interface HeartbeatReading {
  cpu?: number;
  memory?: number;
  /** Usage of the file system that holds the agent's data directory. */
  disk?: number;
  /** Time from a heartbeat to its pong. */
  roundTripMs?: number;
}

/** Interval of readings, in heartbeats. On a metered link the readings add less than 2 % of traffic. */
export const HEARTBEATS_PER_READING = 5;

const VERSION = 1;
const LENGTH = 9;
const UNKNOWN = 0xffff;
/** Resolution of utilisation values. */
const STEPS = 10_000;
const MAX_MS = 60_000;

/** Returns the encoded reading, nine bytes. */
export function encodeHeartbeatReading({ cpu, memory, disk, roundTripMs }: HeartbeatReading): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(LENGTH));
  const part = (value: number | undefined) =>
    value === undefined ? UNKNOWN : Math.round(Math.min(Math.max(value, 0), 1) * STEPS);
  bytes.setUint8(0, VERSION);
  bytes.setUint16(1, part(cpu));
  bytes.setUint16(3, part(memory));
  bytes.setUint16(5, part(disk));
  bytes.setUint16(7, roundTripMs === undefined ? UNKNOWN : Math.min(Math.round(roundTripMs), MAX_MS));
  return new Uint8Array(bytes.buffer);
}

/** Returns undefined for a payload that is empty or of an unknown version. */
export function decodeHeartbeatReading(bytes: Uint8Array): HeartbeatReading | undefined {
  if (bytes.length !== LENGTH || bytes[0] !== VERSION) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const part = (at: number) => {
    const value = view.getUint16(at);
    return value > STEPS ? undefined : value / STEPS;
  };
  const [cpu, memory, disk, roundTripMs] = [part(1), part(3), part(5), view.getUint16(7)];
  return {
    ...(cpu === undefined ? {} : { cpu }),
    ...(memory === undefined ? {} : { memory }),
    ...(disk === undefined ? {} : { disk }),
    ...(roundTripMs > MAX_MS ? {} : { roundTripMs }),
  };
}
