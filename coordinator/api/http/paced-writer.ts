/** Writes long bodies at the pace of their reader, and closes connections that are no longer read. */
import type { Writable } from 'node:stream';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { SplicedValue } from '../../registry/encoding/object-encoding.js';

/** Size of one socket write. Each write costs about 50 µs in addition to its bytes. */
const CHUNK_BYTES = 128 * 1024;

export type BodyPiece = Buffer | string | SplicedValue;

/**
 * Joins pieces into chunks of about CHUNK_BYTES. All long responses share one time slice, so together they block the
 * event loop for one slice at most, and a small request waits for one slice only. The first `unpaced` pieces do not
 * wait for the slice, so that a small response is not delayed by a watch fan-out.
 */
export async function* inChunks(
  pieces: Iterable<BodyPiece>,
  slice: TimeSlice,
  unpaced = 0,
): AsyncGenerator<Buffer> {
  let waiting: Exclude<BodyPiece, string>[] = [];
  let [bytes, count] = [0, 0];
  for (const piece of pieces) {
    const part = typeof piece === 'string' ? Buffer.from(piece) : piece;
    waiting.push(part);
    bytes += part.length;
    if (bytes >= CHUNK_BYTES) {
      yield concatPieces(waiting);
      waiting = [];
      bytes = 0;
    }
    // A list can have 100,000 pieces. Awaiting `undefined` for each of them would cost more than joining them.
    count += 1;
    const pause = count > unpaced ? slice.yieldIfUsedUp() : undefined;
    if (pause) await pause;
  }
  if (bytes > 0) yield concatPieces(waiting);
}

export function concatPieces(parts: readonly Exclude<BodyPiece, string>[]): Buffer {
  const [only] = parts;
  // No copy: the same event bytes go to a hundred watchers.
  if (parts.length === 1 && Buffer.isBuffer(only)) return only;
  const chunk = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    if (Buffer.isBuffer(part)) part.copy(chunk, at);
    else part.copyTo(chunk, at);
    at += part.length;
  }
  return chunk;
}

/** Resolves when the stream accepts more data, or when it is closed. */
export function untilWritable(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}

/** The reader accepted no data for too long. Its connection has been closed. */
export class ReaderStalled extends Error {}

/**
 * Writes and resolves when the stream accepts more data, or when the client has disconnected, which the caller detects
 * by its signal. After `stallMs` without progress it closes the connection and throws `ReaderStalled`.
 */
export async function writePaced(
  response: Writable,
  chunk: Buffer | string | Uint8Array,
  clock: Clock,
  stallMs: number,
): Promise<void> {
  if (response.destroyed || response.write(chunk)) return;
  await new Promise<void>((resolve, reject) => {
    const done = (error?: Error) => {
      timer.cancel();
      response.off('drain', resume).off('close', resume);
      if (error) reject(error);
      else resolve();
    };
    const resume = () => done();
    const timer = clock.after(stallMs, () => {
      response.destroy();
      done(new ReaderStalled('the reader of a response has stopped reading'));
    });
    response.on('drain', resume).on('close', resume);
  });
}
