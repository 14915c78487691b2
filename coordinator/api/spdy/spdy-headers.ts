/** Header blocks of SPDY/3. Each direction of a connection is one zlib stream that is flushed after each block. */
import { constants, createDeflate, createInflate } from 'node:zlib';
import { SPDY_DICTIONARY } from './spdy-dictionary.js';

/** Limit for one uncompressed block. Far more than port forwarding needs. */
const MAX_BLOCK_BYTES = 16 * 1024;

/** Decodes the blocks of one direction. They must be passed in order. */
export class HeaderReader {
  readonly #inflate = createInflate({ dictionary: SPDY_DICTIONARY });

  constructor() {
    // `read` rejects with the error.
    this.#inflate.on('error', () => undefined);
  }

  /** Throws an Error for an invalid block. */
  async read(block: Uint8Array): Promise<Map<string, string>> {
    await new Promise<void>((resolve, reject) => {
      this.#inflate.once('error', reject);
      this.#inflate.write(block, () => {
        this.#inflate.off('error', reject);
        resolve();
      });
    });
    const bytes: Buffer = this.#inflate.read() ?? Buffer.alloc(0);
    if (bytes.length > MAX_BLOCK_BYTES) throw new Error('SPDY header block too large');
    return headersIn(bytes);
  }

  close(): void {
    this.#inflate.destroy();
  }
}

/** Parses a count, then names and values with their lengths, all 32-bit numbers. */
function headersIn(bytes: Buffer): Map<string, string> {
  let at = 4;
  const text = () => {
    const length = bytes.readUInt32BE(at);
    at += 4 + length;
    if (at > bytes.length) throw new Error('SPDY header block is truncated');
    return bytes.toString('utf8', at - length, at);
  };
  const headers = new Map<string, string>();
  for (let left = bytes.readUInt32BE(0); left > 0; left -= 1) headers.set(text(), text());
  return headers;
}

/** Encodes empty blocks: the responses have no headers. */
export class EmptyHeaderWriter {
  readonly #deflate = createDeflate({ dictionary: SPDY_DICTIONARY });

  /** Returns the next block. Calls must not overlap. */
  async write(): Promise<Buffer> {
    this.#deflate.write(Buffer.alloc(4));
    await new Promise<void>((resolve) => this.#deflate.flush(constants.Z_SYNC_FLUSH, resolve));
    return this.#deflate.read() ?? Buffer.alloc(0);
  }

  close(): void {
    this.#deflate.destroy();
  }
}
