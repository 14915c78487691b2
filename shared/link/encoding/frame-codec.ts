/** Encodes messages to frames and decodes frames to messages. Every decoded message is validated. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Packr } from 'msgpackr';
import { type FromAgent, type FromHub, MAX_FRAME_BYTES } from '../messages/link-messages.js';
import { checkStructure } from './frame-structure.js';
import { FROM_AGENT, FROM_HUB } from './message-schemas.js';
import { ProtocolError, type Schema, validate } from './schema-combinators.js';

// Plain maps without extension types, so that any msgpack library can read and write the frames.
const packr = new Packr({
  useRecords: false,
  variableMapSize: true,
  int64AsType: 'number',
  encodeUndefinedAsNil: true,
  copyBuffers: true,
});

type Message = FromAgent | FromHub;

/** First byte of a compressed frame. msgpack never uses this byte. */
const COMPRESSED = 0xc1;
/** Smaller frames are not compressed: the gain is less than the header of a TCP segment. */
const MIN_COMPRESSED_BYTES = 128;
/** Maximum compression ratio. A frame with a higher ratio is treated as a decompression bomb. */
const MAX_GROWTH = 100;

/** Encodes a message, compressed if requested and smaller. Throws `ProtocolError` above the frame limit. */
export function encodeMessage(message: Message, { compress = false } = {}): Buffer {
  const plain = packr.pack(message);
  const frame = compress ? compressed(plain) : plain;
  if (frame.length > MAX_FRAME_BYTES) {
    throw new ProtocolError(`${message.kind} of ${frame.length} bytes, the limit is ${MAX_FRAME_BYTES}`);
  }
  return frame;
}

/** A message for many peers, encoded at most once in each form. */
export class SharedMessage<M extends Message = Message> {
  readonly message: M;
  #plain: Buffer | undefined;
  #compressed: Buffer | undefined;

  constructor(message: M) {
    this.message = message;
  }

  /** Throws `ProtocolError` above the frame limit. */
  frame(compress: boolean): Buffer {
    this.#plain ??= encodeMessage(this.message);
    if (!compress) return this.#plain;
    this.#compressed ??= compressed(this.#plain);
    return this.#compressed;
  }
}

function compressed(frame: Buffer): Buffer {
  if (frame.length < MIN_COMPRESSED_BYTES || frame.length > MAX_FRAME_BYTES) return frame;
  const smaller = Buffer.concat([Buffer.of(COMPRESSED), deflateRawSync(frame)]);
  const grows = frame.length > smaller.length * MAX_GROWTH;
  return smaller.length < frame.length && !grows ? smaller : frame;
}

function uncompressed(frame: Buffer): Buffer {
  const maxOutputLength = Math.min(MAX_FRAME_BYTES, frame.length * MAX_GROWTH);
  try {
    return inflateRawSync(frame.subarray(1), { maxOutputLength });
  } catch {
    throw new ProtocolError('frame cannot be decompressed, or is too large when decompressed');
  }
}

/** Decodes a message from an agent. Throws `ProtocolError` for any invalid frame. */
export function decodeFromAgent(frame: Buffer): FromAgent {
  return decode<FromAgent>(frame, FROM_AGENT);
}

/** Decodes a message from the hub. Throws `ProtocolError` for any invalid frame. */
export function decodeFromHub(frame: Buffer): FromHub {
  return decode<FromHub>(frame, FROM_HUB);
}

function decode<M extends Message>(frame: Buffer, shapes: Record<M['kind'], Schema<M>>): M {
  const value = unpack(frame);
  const kind = kindOf(value);
  if (typeof kind !== 'string' || !Object.hasOwn(shapes, kind))
    throw new ProtocolError(`kind: expected ${Object.keys(shapes).join(', ')}`);
  return validate(shapes[kind as M['kind']], value, kind);
}

function unpack(frame: Buffer): unknown {
  if (frame.length > MAX_FRAME_BYTES) {
    throw new ProtocolError(`frame of ${frame.length} bytes, the limit is ${MAX_FRAME_BYTES}`);
  }
  const plain = frame[0] === COMPRESSED ? uncompressed(frame) : frame;
  checkStructure(plain);
  try {
    return packr.unpack(plain);
  } catch (error) {
    throw new ProtocolError(`frame is not msgpack: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}

function kindOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;
}
