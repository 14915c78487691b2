/**
 * Counts the traffic of a link by cause. Frames are counted exactly. The overhead of TLS, TCP and IP is calculated,
 * because programs cannot observe it. On an idle link the result is within a few percent of the network interface's
 * counter.
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

/** RFC 8446, 5.2: header, content type and tag of a record with at most 16 KiB. */
const TLS_RECORD_BYTES = 22;
const TLS_RECORD_ROOM = 16_384;
/** IPv4 and TCP headers with timestamps: the overhead of a segment, and the size of an acknowledgement. */
const SEGMENT_BYTES = 52;
const SEGMENT_ROOM = 1_448;
/** TCP acknowledges every second segment. */
const SEGMENTS_AN_ACK = 2;
/** RFC 6455, 5.2: clients mask their frames. */
const MASK_BYTES = 4;

/** Measured sizes: TCP handshake and TLS 1.3 with certificates of both ends, and with a resumption ticket. */
const FULL_HANDSHAKE = { up: 1_400, down: 2_900 };
const RESUMED_HANDSHAKE = { up: 1_200, down: 400 };

/** Messages whose acknowledgement is part of the response segment. */
const ANSWERED: ReadonlySet<Kind> = new Set<Kind>(['hello', 'status', 'desired', 'streamOpen']);

const CAUSES: Partial<Record<Kind, LinkCause>> = {
  hello: 'connect',
  welcome: 'connect',
  goodbye: 'connect',
  heartbeatConfig: 'connect',
  applied: 'desired',
  returnRequest: 'desired',
  desired: 'desired',
  prefetchImages: 'desired',
  serviceInterest: 'services',
  serviceViews: 'services',
  endpointChanges: 'services',
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
  kubelet: 'other',
};

/** Returns the bytes on the wire for a WebSocket frame, in its own direction. */
export function wireBytes(payloadBytes: number, direction: LinkDirection): number {
  const length = payloadBytes < 126 ? 0 : payloadBytes < 65_536 ? 2 : 8;
  const frame = 2 + length + (direction === 'up' ? MASK_BYTES : 0) + payloadBytes;
  const records = Math.ceil(frame / TLS_RECORD_ROOM);
  const encrypted = frame + records * TLS_RECORD_BYTES;
  return encrypted + segmentsOf(encrypted) * SEGMENT_BYTES;
}

/** Returns the bytes of the TCP acknowledgements in the other direction. */
export function acknowledgementBytes(wire: number): number {
  return Math.ceil(segmentsOf(wire) / SEGMENTS_AN_ACK) * SEGMENT_BYTES;
}

function segmentsOf(bytes: number): number {
  return Math.ceil(bytes / SEGMENT_ROOM);
}

export class LinkBytes {
  readonly #sums = new Float64Array(LINK_CAUSES.length * 2);

  add(direction: LinkDirection, cause: LinkCause, bytes: number): void {
    const index = indexOf(direction, cause);
    this.#sums[index] = (this.#sums[index] ?? 0) + bytes;
  }

  of(direction: LinkDirection, cause: LinkCause): number {
    return this.#sums[indexOf(direction, cause)] ?? 0;
  }

  byCause(direction: LinkDirection): BytesByCause {
    const sums = LINK_CAUSES.map((cause) => [cause, this.of(direction, cause)]);
    return Object.fromEntries(sums) as BytesByCause;
  }

  get total(): number {
    return this.#sums.reduce((sum, bytes) => sum + bytes, 0);
  }
}

function indexOf(direction: LinkDirection, cause: LinkCause): number {
  return LINK_CAUSES.indexOf(cause) + (direction === 'up' ? 0 : LINK_CAUSES.length);
}

/** The meter of one connection. It adds its traffic to each of the given counts. */
export class LinkMeter {
  readonly #sums: readonly LinkBytes[];
  /** Absent until the first stream, because most links never have one. */
  #streams: Map<number, LinkCause> | undefined;
  /** Cause of the last stream message. `streamArrived` names no stream, so it counts for this cause. */
  #lastStream: LinkCause = 'other';

  constructor(...sums: LinkBytes[]) {
    this.#sums = sums;
  }

  /** Counts the connection set-up. `upgrade` is the size of the HTTP upgrade in bytes of plain text. */
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

  /** Counts a message with a frame of this size. */
  message(direction: LinkDirection, message: Message, frameBytes: number): void {
    const cause = this.#causeOf(message);
    const wire = wireBytes(frameBytes, direction);
    this.#add(direction, cause, wire);
    if (ANSWERED.has(message.kind)) return;
    this.#add(direction === 'up' ? 'down' : 'up', cause, acknowledgementBytes(wire));
  }

  /** Counts a ping and its pong, which echoes the payload. */
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
        this.#streams ??= new Map();
        this.#streams.set(message.stream, this.#lastStream);
        return this.#lastStream;
      case 'streamStarted':
      case 'streamData':
      case 'streamCredit':
        this.#lastStream = this.#streams?.get(message.stream) ?? this.#lastStream;
        return this.#lastStream;
      case 'streamClose':
        this.#lastStream = this.#streams?.get(message.stream) ?? this.#lastStream;
        this.#streams?.delete(message.stream);
        return this.#lastStream;
      case 'streamArrived':
        return this.#lastStream;
      default:
        return CAUSES[message.kind] ?? 'other';
    }
  }
}
