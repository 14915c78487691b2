/**
 * What a heartbeat tells besides that the host lives: how busy it is, in the few bytes that a WebSocket's ping may carry, so that no
 * message is needed for it. The hub's pong brings them back.
 */

/** Parts of the whole in [0, 1]; what the host does not know is absent. */
export interface HeartbeatReading {
  cpu?: number;
  memory?: number;
  /** Of the file system that the agent's data is on. */
  disk?: number;
  /** From a heartbeat to its answer. */
  roundTripMs?: number;
}

/** One heartbeat in so many carries one: on a link that is paid for by the byte, too, it costs a sixtieth more. */
export const HEARTBEATS_PER_READING = 5;

const VERSION = 1;
const LENGTH = 9;
const UNKNOWN = 0xffff;
/** Steps of a part of the whole. */
const STEPS = 10_000;
const LONGEST_MS = 60_000;

/** Nine bytes. */
export function encodeHeartbeatReading({ cpu, memory, disk, roundTripMs }: HeartbeatReading): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(LENGTH));
  const part = (value: number | undefined) =>
    value === undefined ? UNKNOWN : Math.round(Math.min(Math.max(value, 0), 1) * STEPS);
  bytes.setUint8(0, VERSION);
  bytes.setUint16(1, part(cpu));
  bytes.setUint16(3, part(memory));
  bytes.setUint16(5, part(disk));
  bytes.setUint16(7, roundTripMs === undefined ? UNKNOWN : Math.min(Math.round(roundTripMs), LONGEST_MS));
  return new Uint8Array(bytes.buffer);
}

/** Undefined for a heartbeat that tells nothing, or nothing that is known here. */
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
    ...(roundTripMs > LONGEST_MS ? {} : { roundTripMs }),
  };
}
