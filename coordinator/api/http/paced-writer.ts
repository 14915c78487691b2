/** Writes long bodies at the pace of their reader, and leaves readers that have stopped reading. */
import type { Writable } from 'node:stream';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { SplicedValue } from '../../registry/encoding/object-encoding.js';

/** What is handed to the socket at once: a write costs some 50 µs beside its bytes. */
const CHUNK_BYTES = 128 * 1024;

/** A part of a body. */
export type BodyPiece = Buffer | string | SplicedValue;

/**
 * Joins pieces into chunks of about CHUNK_BYTES. Long answers share a slice: however many there are, together they
 * take one slice of work between two turns of the event loop, and a small request waits for one of them, not for all.
 * The first `unpaced` pieces are joined without standing in that line: a small answer is not to wait for a fan-out.
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
    // A list has a hundred thousand pieces: waiting for nothing would cost more than joining them.
    count += 1;
    const pause = count > unpaced ? slice.yieldIfUsedUp() : undefined;
    if (pause) await pause;
  }
  if (bytes > 0) yield concatPieces(waiting);
}

/** The pieces as one. */
export function concatPieces(parts: readonly Exclude<BodyPiece, string>[]): Buffer {
  const [only] = parts;
  // An event goes to a hundred watchers as the same bytes.
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

/** The reader took nothing for too long; its connection has been cut. */
export class ReaderStalled extends Error {}

/**
 * Writes and waits until the socket takes more. Resolves also when the client has gone: the caller's signal
 * tells. Throws `ReaderStalled` after `stallMs` without progress, having cut the connection.
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
      done(new ReaderStalled('the reader of an answer has stopped reading'));
    });
    response.on('drain', resume).on('close', resume);
  });
}
