/** Header blocks of SPDY/3: each direction of a connection is one zlib stream, flushed after each block. */
import { constants, createDeflate, createInflate } from 'node:zlib';
import { SPDY_DICTIONARY } from './spdy-dictionary.js';

/** Of one block without its compression: far more than port forwarding needs. */
const MAX_BLOCK_BYTES = 16 * 1024;

/** Reads the blocks of one direction, in the order in which they came. */
export class HeaderReader {
  readonly #inflate = createInflate({ dictionary: SPDY_DICTIONARY });

  constructor() {
    // A broken block is told to whoever waits for it.
    this.#inflate.on('error', () => undefined);
  }

  /** Throws an Error for what is no block. */
  async read(block: Uint8Array): Promise<Map<string, string>> {
    await new Promise<void>((resolve, reject) => {
      this.#inflate.once('error', reject);
      this.#inflate.write(block, () => {
        this.#inflate.off('error', reject);
        resolve();
      });
    });
    const bytes: Buffer = this.#inflate.read() ?? Buffer.alloc(0);
    if (bytes.length > MAX_BLOCK_BYTES) throw new Error('a header block is too long');
    return headersIn(bytes);
  }

  close(): void {
    this.#inflate.destroy();
  }
}

/** A count, then names and values, each with its length, all in 32 bits. */
function headersIn(bytes: Buffer): Map<string, string> {
  let at = 4;
  const text = () => {
    const length = bytes.readUInt32BE(at);
    at += 4 + length;
    if (at > bytes.length) throw new Error('a header block ends inside a header');
    return bytes.toString('utf8', at - length, at);
  };
  const headers = new Map<string, string>();
  for (let left = bytes.readUInt32BE(0); left > 0; left -= 1) headers.set(text(), text());
  return headers;
}

/** Writes blocks without headers: nothing that we answer has any. */
export class EmptyHeaderWriter {
  readonly #deflate = createDeflate({ dictionary: SPDY_DICTIONARY });

  /** The next block. One call at a time. */
  async write(): Promise<Buffer> {
    this.#deflate.write(Buffer.alloc(4));
    await new Promise<void>((resolve) => this.#deflate.flush(constants.Z_SYNC_FLUSH, resolve));
    return this.#deflate.read() ?? Buffer.alloc(0);
  }

  close(): void {
    this.#deflate.destroy();
  }
}
