/**
 * Counts what a link carries, by cause. Frames are counted as they are; what TLS, TCP and IP add is worked out, for no program is told:
 * on an idle link the sum is within a few percent of the network interface's own count.
 */
import {
  type BytesByCause,
  LINK_CAUSES,
  type LinkCause,
  type LinkDirection,
} from '../kube/fleet/host-meter-types.js';
import type { FromAgent, FromHub, StreamRequest } from './messages/link-messages.js';

type Message = FromAgent | FromHub;
type Kind = Message['kind'];

/** RFC 8446, 5.2: header, content type and tag of a record of at most 16 KiB. */
const TLS_RECORD_BYTES = 22;
const TLS_RECORD_ROOM = 16_384;
/** IPv4 and TCP with time stamps: of each segment, and all of a bare acknowledgement. */
const SEGMENT_BYTES = 52;
const SEGMENT_ROOM = 1_448;
/** A segment in two is acknowledged by itself. */
const SEGMENTS_AN_ACK = 2;
/** RFC 6455, 5.2: what an agent sends is masked. */
const MASK_BYTES = 4;

/** Handshakes as they were measured: TCP's own, TLS 1.3 with both ends' certificates, and resumed by a ticket. */
const FULL_HANDSHAKE = { up: 1_400, down: 2_900 };
const RESUMED_HANDSHAKE = { up: 1_200, down: 400 };

/** The answer carries their acknowledgement. */
const ANSWERED: ReadonlySet<Kind> = new Set<Kind>(['hello', 'status', 'desired', 'streamOpen']);

const CAUSES: Partial<Record<Kind, LinkCause>> = {
  hello: 'connect',
  welcome: 'connect',
  goodbye: 'connect',
  pace: 'connect',
  applied: 'desired',
  ask: 'desired',
  desired: 'desired',
  prefetchImages: 'desired',
  status: 'status',
  statusAck: 'status',
  events: 'status',
};

const STREAM_CAUSES: Record<StreamRequest['type'], LinkCause> = {
  log: 'logs',
  exec: 'exec',
  attach: 'exec',
  port: 'exec',
  usage: 'other',
};

/** What a WebSocket frame of so many bytes puts on the wire in its own direction. */
export function wireBytes(payloadBytes: number, direction: LinkDirection): number {
  const length = payloadBytes < 126 ? 0 : payloadBytes < 65_536 ? 2 : 8;
  const frame = 2 + length + (direction === 'up' ? MASK_BYTES : 0) + payloadBytes;
  const records = Math.ceil(frame / TLS_RECORD_ROOM);
  const encrypted = frame + records * TLS_RECORD_BYTES;
  return encrypted + segmentsOf(encrypted) * SEGMENT_BYTES;
}

/** What the other end sends back to acknowledge that. */
export function acknowledgementBytes(wire: number): number {
  return Math.ceil(segmentsOf(wire) / SEGMENTS_AN_ACK) * SEGMENT_BYTES;
}

function segmentsOf(bytes: number): number {
  return Math.ceil(bytes / SEGMENT_ROOM);
}

/** Sums, by direction and cause. */
export class LinkBytes {
  readonly #sums = new Float64Array(LINK_CAUSES.length * 2);

  add(direction: LinkDirection, cause: LinkCause, bytes: number): void {
    const index = indexOf(direction, cause);
    this.#sums[index] = (this.#sums[index] ?? 0) + bytes;
  }

  of(direction: LinkDirection, cause: LinkCause): number {
    return this.#sums[indexOf(direction, cause)] ?? 0;
  }

  /** All of one direction. */
  byCause(direction: LinkDirection): BytesByCause {
    const sums = LINK_CAUSES.map((cause) => [cause, this.of(direction, cause)]);
    return Object.fromEntries(sums) as BytesByCause;
  }

  /** Both ways. */
  get total(): number {
    return this.#sums.reduce((sum, bytes) => sum + bytes, 0);
  }
}

function indexOf(direction: LinkDirection, cause: LinkCause): number {
  return LINK_CAUSES.indexOf(cause) + (direction === 'up' ? 0 : LINK_CAUSES.length);
}

/** The meter of one connection: adds what it carries to each of the sums. */
export class LinkMeter {
  readonly #sums: readonly LinkBytes[];
  /** Causes of the streams that are open. */
  readonly #streams = new Map<number, LinkCause>();
  /** What was carried last by a stream: word of what has arrived names none. */
  #lastStream: LinkCause = 'other';

  constructor(...sums: LinkBytes[]) {
    this.#sums = sums;
  }

  /** The connection stands; of the upgrade, so many bytes of plain text were read and written by the end that counts. */
  connected(isResumed: boolean, upgrade: { up: number; down: number }): void {
    const handshake = isResumed ? RESUMED_HANDSHAKE : FULL_HANDSHAKE;
    for (const direction of ['up', 'down'] as const) {
      this.#add(
        direction,
        'connect',
        handshake[direction] + upgrade[direction] + TLS_RECORD_BYTES + SEGMENT_BYTES,
      );
    }
  }

  /** A message crosses the link in a frame of so many bytes. */
  message(direction: LinkDirection, message: Message, frameBytes: number): void {
    const cause = this.#causeOf(message);
    const wire = wireBytes(frameBytes, direction);
    this.#add(direction, cause, wire);
    if (ANSWERED.has(message.kind)) return;
    this.#add(direction === 'up' ? 'down' : 'up', cause, acknowledgementBytes(wire));
  }

  /** A ping crosses it, and its answer, which brings the payload back. */
  heartbeat(from: LinkDirection = 'up', payloadBytes = 0): void {
    const back = from === 'up' ? 'down' : 'up';
    const answer = wireBytes(payloadBytes, back);
    this.#add(from, 'heartbeats', wireBytes(payloadBytes, from) + acknowledgementBytes(answer));
    this.#add(back, 'heartbeats', answer);
  }

  #add(direction: LinkDirection, cause: LinkCause, bytes: number): void {
    for (const sum of this.#sums) sum.add(direction, cause, bytes);
  }

  #causeOf(message: Message): LinkCause {
    switch (message.kind) {
      case 'streamOpen':
        this.#lastStream = STREAM_CAUSES[message.request.type];
        this.#streams.set(message.stream, this.#lastStream);
        return this.#lastStream;
      case 'streamStarted':
      case 'streamData':
      case 'streamCredit':
        this.#lastStream = this.#streams.get(message.stream) ?? this.#lastStream;
        return this.#lastStream;
      case 'streamClose':
        this.#lastStream = this.#streams.get(message.stream) ?? this.#lastStream;
        this.#streams.delete(message.stream);
        return this.#lastStream;
      case 'streamArrived':
        return this.#lastStream;
      default:
        return CAUSES[message.kind] ?? 'other';
    }
  }
}
