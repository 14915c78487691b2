/** What a container prints, without the engine's framing. */
import { type OutputChunk, RuntimeError } from '../runtime-driver.js';

const HEADER_BYTES = 8;
const STDERR = 2;

/**
 * Takes apart the engine's frames (one byte of stream, three of nothing, four of length, then that many bytes) and
 * yields what was in them, in the order it was written. Engines frame each line of a log: what came together goes on
 * together. A container with a terminal has no frames: `raw`.
 */
export async function* demultiplex(
  source: AsyncIterable<Uint8Array>,
  raw: boolean,
): AsyncGenerator<OutputChunk, void> {
  if (raw) {
    for await (const bytes of source) yield { from: 'stdout', bytes };
    return;
  }
  const frames = new FrameReader();
  for await (const chunk of source) yield* joined(frames.take(chunk));
}

/** Remembers where in a frame the last bytes ended. */
class FrameReader {
  #header = Buffer.alloc(0);
  #from: OutputChunk['from'] = 'stdout';
  #leftInFrame = 0;

  /** What these bytes hold, frame by frame. */
  *take(chunk: Uint8Array): Generator<OutputChunk, void> {
    for (let at = 0; at < chunk.length; ) {
      if (this.#leftInFrame > 0) {
        const bytes = chunk.subarray(at, at + this.#leftInFrame);
        at += bytes.length;
        this.#leftInFrame -= bytes.length;
        yield { from: this.#from, bytes };
        continue;
      }
      const part = chunk.subarray(at, at + HEADER_BYTES - this.#header.length);
      at += part.length;
      this.#header = Buffer.concat([this.#header, part]);
      if (this.#header.length < HEADER_BYTES) return;
      this.#from = streamOf(this.#header[0]);
      this.#leftInFrame = this.#header.readUInt32BE(4);
      this.#header = Buffer.alloc(0);
    }
  }
}

/** Neighbours of one stream become one. */
function* joined(chunks: Iterable<OutputChunk>): Generator<OutputChunk, void> {
  let from: OutputChunk['from'] = 'stdout';
  let waiting: Uint8Array[] = [];
  for (const chunk of chunks) {
    if (chunk.from !== from && waiting.length > 0) {
      yield { from, bytes: Buffer.concat(waiting) };
      waiting = [];
    }
    from = chunk.from;
    waiting.push(chunk.bytes);
  }
  if (waiting.length > 0) yield { from, bytes: Buffer.concat(waiting) };
}

function streamOf(kind: number | undefined): OutputChunk['from'] {
  if (kind !== undefined && kind <= STDERR) return kind === STDERR ? 'stderr' : 'stdout';
  throw new RuntimeError('EngineDown', 'the engine sent a frame of no known kind', true);
}
