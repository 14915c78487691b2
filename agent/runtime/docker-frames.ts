/** What a container prints, without the engine's framing. */
import { type OutputChunk, RuntimeError } from './driver.js';

const HEADER_BYTES = 8;
const STDERR = 2;

/**
 * Takes apart the engine's frames (one byte of stream, three of nothing, four of length, then that many bytes) and
 * yields what was in them, in the order it was written. A container with a terminal has no frames: `raw`.
 */
export async function* demultiplex(
  source: AsyncIterable<Uint8Array>,
  raw: boolean,
): AsyncGenerator<OutputChunk, void> {
  if (raw) {
    for await (const bytes of source) yield { from: 'stdout', bytes };
    return;
  }
  let header = Buffer.alloc(0);
  let from: OutputChunk['from'] = 'stdout';
  let leftInFrame = 0;
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) {
      if (leftInFrame > 0) {
        const bytes = chunk.subarray(at, at + leftInFrame);
        at += bytes.length;
        leftInFrame -= bytes.length;
        yield { from, bytes };
        continue;
      }
      const part = chunk.subarray(at, at + HEADER_BYTES - header.length);
      at += part.length;
      header = Buffer.concat([header, part]);
      if (header.length < HEADER_BYTES) continue;
      from = streamOf(header[0]);
      leftInFrame = header.readUInt32BE(4);
      header = Buffer.alloc(0);
    }
  }
}

function streamOf(kind: number | undefined): OutputChunk['from'] {
  if (kind !== undefined && kind <= STDERR) return kind === STDERR ? 'stderr' : 'stdout';
  throw new RuntimeError('EngineDown', 'the engine sent a frame of no known kind', true);
}
