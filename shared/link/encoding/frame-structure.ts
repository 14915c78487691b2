/**
 * Checks the structure of a msgpack frame before it is decoded. A decoder trusts lengths in the frame: five bytes can
 * make it allocate 256 MB, and nesting can exhaust its stack. This check compares each length with the bytes that are
 * present.
 */
import { ProtocolError } from './schema-combinators.js';

/** More than the nesting of any status or object. */
const MAX_DEPTH = 32;

/** Payload sizes of the formats 0xca to 0xd3 (floats, unsigned and signed integers). */
const NUMBER_BYTES = [4, 8, 1, 2, 4, 8, 1, 2, 4, 8];

const LENGTH_BYTES = [1, 2, 4] as const;

/** Walks over the values of a frame. It runs for every value of every message, so it allocates nothing. */
class FrameCursor {
  at = 0;

  constructor(readonly frame: Buffer) {}

  /** Advances past the header of a value, and past scalar content. Returns the number of contained values. */
  open(): number {
    const format = this.frame[this.at] ?? 0xc1;
    if (format <= 0x7f || format >= 0xe0) return this.#advance(1);
    if (format <= 0x8f) return this.#advance(1, 2 * (format & 0x0f));
    if (format <= 0x9f) return this.#advance(1, format & 0x0f);
    if (format <= 0xbf) return this.#advance(1 + (format & 0x1f));
    if (format === 0xc0 || format === 0xc2 || format === 0xc3) return this.#advance(1);
    if (format >= 0xc4 && format <= 0xc6) return this.#advanceSized(LENGTH_BYTES[format - 0xc4] ?? 4);
    if (format >= 0xca && format <= 0xd3) return this.#advance(1 + (NUMBER_BYTES[format - 0xca] ?? 8));
    if (format >= 0xd9 && format <= 0xdb) return this.#advanceSized(LENGTH_BYTES[format - 0xd9] ?? 4);
    if (format === 0xdc || format === 0xdd) return this.#advanceContainer(format === 0xdc ? 2 : 4, 1);
    if (format === 0xde || format === 0xdf) return this.#advanceContainer(format === 0xde ? 2 : 4, 2);
    throw new ProtocolError('frame contains an extension type, which the protocol does not use');
  }

  #advance(span: number, children = 0): number {
    this.at += span;
    return children;
  }

  #advanceSized(bytes: 1 | 2 | 4): number {
    return this.#advance(1 + bytes + this.#length(bytes));
  }

  #advanceContainer(bytes: 2 | 4, perItem: 1 | 2): number {
    return this.#advance(1 + bytes, perItem * this.#length(bytes));
  }

  /** Reads the length after a format byte. */
  #length(bytes: 1 | 2 | 4): number {
    if (this.at + 1 + bytes > this.frame.length) throw new ProtocolError('frame ends inside a length');
    return this.frame.readUIntBE(this.at + 1, bytes);
  }
}

/** Throws `ProtocolError` unless the frame is one complete msgpack value of limited depth without extensions. */
export function checkStructure(frame: Buffer): void {
  const cursor = new FrameCursor(frame);
  const open: number[] = [1];
  while (open.length > 0) {
    const left = open[open.length - 1] ?? 0;
    if (left === 0) {
      open.pop();
      continue;
    }
    open[open.length - 1] = left - 1;
    if (cursor.at >= frame.length) throw new ProtocolError('frame ends inside a value');
    const children = cursor.open();
    if (cursor.at > frame.length || children > frame.length - cursor.at)
      throw new ProtocolError('frame is shorter than its header states');
    if (children > 0) open.push(children);
    if (open.length > MAX_DEPTH) throw new ProtocolError(`frame nests deeper than ${MAX_DEPTH}`);
  }
  if (cursor.at !== frame.length) throw new ProtocolError('frame contains bytes after its value');
}
