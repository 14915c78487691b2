/** Frames of SPDY/3.1 (draft-mbelshe-httpbis-spdy-00, 2.2 and 2.6), as far as kubectl uses them. */

const HEADER_BYTES = 8;
const CONTROL_BIT = 0x80000000;
const VERSION = 3;
/** kubectl sends at most 32 KiB per frame. Header blocks are shorter. */
const MAX_FRAME_BYTES = 1024 * 1024;

export const FRAME = {
  synStream: 1,
  synReply: 2,
  resetStream: 3,
  ping: 6,
  goAway: 7,
  windowUpdate: 9,
} as const;

export const FLAG_FIN = 1;

export type Frame =
  | { kind: 'data'; stream: number; flags: number; payload: Buffer }
  | { kind: 'control'; type: number; flags: number; payload: Buffer };

/** Splits a byte stream into frames. Throws an Error for a frame above the size limit. */
export async function* readFrames(source: AsyncIterable<Uint8Array>): AsyncGenerator<Frame, void> {
  let chunks: Uint8Array[] = [];
  let length = 0;
  let wanted = HEADER_BYTES;
  for await (const chunk of source) {
    chunks.push(chunk);
    length += chunk.length;
    if (length < wanted) continue;
    const bytes = Buffer.concat(chunks, length);
    let at = 0;
    for (wanted = HEADER_BYTES; length - at >= wanted; ) {
      wanted = frameLength(bytes, at);
      if (length - at < wanted) break;
      yield frameAt(bytes.subarray(at, at + wanted));
      at += wanted;
      wanted = HEADER_BYTES;
    }
    chunks = at < length ? [bytes.subarray(at)] : [];
    length -= at;
  }
}

function frameLength(bytes: Buffer, at: number): number {
  const length = HEADER_BYTES + bytes.readUIntBE(at + 5, 3);
  if (length > MAX_FRAME_BYTES) throw new Error('SPDY frame too large');
  return length;
}

function frameAt(bytes: Buffer): Frame {
  const head = bytes.readUInt32BE(0);
  const rest = { flags: bytes[4] ?? 0, payload: bytes.subarray(HEADER_BYTES) };
  if (head < CONTROL_BIT) return { kind: 'data', stream: head, ...rest };
  return { kind: 'control', type: head & 0xffff, ...rest };
}

/** `flags` may end the stream. */
export function dataFrame(stream: number, flags: number, payload: Uint8Array): Buffer {
  return Buffer.concat([header(stream, flags, payload.length), payload]);
}

/** `type` as in the draft. */
export function controlFrame(type: number, flags: number, payload: Uint8Array): Buffer {
  return Buffer.concat([
    header((CONTROL_BIT | (VERSION << 16) | type) >>> 0, flags, payload.length),
    payload,
  ]);
}

/** Encodes two 32-bit numbers: a stream and a status or window size. */
export function pairOf(first: number, second: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(first, 0);
  bytes.writeUInt32BE(second, 4);
  return bytes;
}

function header(first: number, flags: number, length: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt32BE(first, 0);
  bytes[4] = flags;
  bytes.writeUIntBE(length, 5, 3);
  return bytes;
}
