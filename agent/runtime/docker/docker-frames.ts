/** Parses the engine's frames of container output. */
import { type OutputChunk, RuntimeError } from '../runtime-driver.js';

const HEADER_BYTES = 8;
const STDERR = 2;

/**
 * Yields the output in the frames of `source`, in order. A frame is one byte for the stream, three zero bytes, four
 * bytes of length, and the data. Engines frame each log line: the frames of one chunk are joined again. A terminal's
 * output has no frames: `raw`.
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

/** Parses frames that may be split over several chunks. */
class FrameReader {
  #header = Buffer.alloc(0);
  #from: OutputChunk['from'] = 'stdout';
  #leftInFrame = 0;

  /** Yields the data of the frames in `chunk`. */
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

/** Joins neighbouring chunks of the same stream. */
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
  throw new RuntimeError('EngineDown', 'the engine sent an output frame of an unknown stream', true);
}
