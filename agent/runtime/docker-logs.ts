/** The bytes of a container's log without the engine's framing. */
import { RuntimeError } from './driver.js';

const HEADER_BYTES = 8;

/**
 * Takes apart the engine's frames (one byte of stream, three of nothing, four of length, then that many bytes) and
 * yields what was in them, in the order it was written. A container with a terminal has no frames: `raw`.
 */
export async function* demultiplex(
  source: AsyncIterable<Uint8Array>,
  raw: boolean,
): AsyncGenerator<Uint8Array, void> {
  let left = Buffer.alloc(0);
  for await (const chunk of source) {
    if (raw) {
      yield chunk;
      continue;
    }
    left = left.length === 0 ? Buffer.from(chunk) : Buffer.concat([left, chunk]);
    let at = 0;
    while (left.length >= at + HEADER_BYTES) {
      if ((left[at] ?? 0) > 2)
        throw new RuntimeError('EngineDown', 'the engine sent a log frame of no known kind', true);
      const end = at + HEADER_BYTES + left.readUInt32BE(at + 4);
      if (left.length < end) break;
      yield left.subarray(at + HEADER_BYTES, end);
      at = end;
    }
    left = left.subarray(at);
  }
}
