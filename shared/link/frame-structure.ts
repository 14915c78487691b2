/**
 * Looks over a msgpack frame before it is decoded. A decoder trusts the lengths it reads: five bytes can make it
 * reserve 256 MB, and nesting can exhaust its stack. Here each length is held against the bytes that are really there.
 */
import { ProtocolError } from './shape.js';

/** Deeper than any status or object nests. */
const MAX_DEPTH = 32;

/** How one value begins: bytes it spans by itself, and how many values it contains. */
interface Opening {
  span: number;
  children: number;
}

const leaf = (span: number): Opening => ({ span, children: 0 });

/** Bytes after the first one, for formats of fixed length 0xca..0xd3 (floats, unsigned, signed). */
const NUMBER_BYTES = [4, 8, 1, 2, 4, 8, 1, 2, 4, 8];

/** The length that follows a format byte, in 1, 2 or 4 bytes. */
function lengthAt(frame: Buffer, at: number, bytes: 1 | 2 | 4): number {
  if (at + 1 + bytes > frame.length) throw new ProtocolError('frame ends inside a length');
  return frame.readUIntBE(at + 1, bytes);
}

const LENGTH_BYTES = [1, 2, 4] as const;

function sized(frame: Buffer, at: number, bytes: 1 | 2 | 4): Opening {
  return leaf(1 + bytes + lengthAt(frame, at, bytes));
}

function container(frame: Buffer, at: number, bytes: 2 | 4, perItem: 1 | 2): Opening {
  return { span: 1 + bytes, children: perItem * lengthAt(frame, at, bytes) };
}

function openingAt(frame: Buffer, at: number): Opening {
  const format = frame[at] ?? 0xc1;
  if (format <= 0x7f || format >= 0xe0) return leaf(1);
  if (format <= 0x8f) return { span: 1, children: 2 * (format & 0x0f) };
  if (format <= 0x9f) return { span: 1, children: format & 0x0f };
  if (format <= 0xbf) return leaf(1 + (format & 0x1f));
  if (format === 0xc0 || format === 0xc2 || format === 0xc3) return leaf(1);
  if (format >= 0xc4 && format <= 0xc6) return sized(frame, at, LENGTH_BYTES[format - 0xc4] ?? 4);
  if (format >= 0xca && format <= 0xd3) return leaf(1 + (NUMBER_BYTES[format - 0xca] ?? 8));
  if (format >= 0xd9 && format <= 0xdb) return sized(frame, at, LENGTH_BYTES[format - 0xd9] ?? 4);
  if (format === 0xdc || format === 0xdd) return container(frame, at, format === 0xdc ? 2 : 4, 1);
  if (format === 0xde || format === 0xdf) return container(frame, at, format === 0xde ? 2 : 4, 2);
  throw new ProtocolError('frame holds an extension type, which this protocol has none of');
}

/** Throws `ProtocolError` unless the frame is exactly one msgpack value, complete, of bounded depth, without extension types. */
export function checkStructure(frame: Buffer): void {
  const open: number[] = [1];
  let at = 0;
  while (open.length > 0) {
    const left = open[open.length - 1] ?? 0;
    if (left === 0) {
      open.pop();
      continue;
    }
    open[open.length - 1] = left - 1;
    if (at >= frame.length) throw new ProtocolError('frame ends inside a value');
    const { span, children } = openingAt(frame, at);
    at += span;
    if (at > frame.length || children > frame.length - at)
      throw new ProtocolError('frame is shorter than it says');
    if (children > 0) open.push(children);
    if (open.length > MAX_DEPTH) throw new ProtocolError(`frame nests deeper than ${MAX_DEPTH}`);
  }
  if (at !== frame.length) throw new ProtocolError('frame goes on after its value');
}
