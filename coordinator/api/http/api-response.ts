/** What a handler answers, apart from how it gets onto the wire. */
import type { Writable } from 'node:stream';
import type { BodyPiece } from './paced-writer.js';

export type ApiResponse =
  /** A small object made for this answer: a Status, a review. */
  | { type: 'value'; code: number; value: unknown; headers?: Readonly<Record<string, string>> }
  /** JSON that exists as bytes already: one stored object, a discovery document. */
  | { type: 'bytes'; code: number; bytes: Buffer; headers?: Readonly<Record<string, string>> }
  /** A JSON text in pieces, made while it is sent. */
  | { type: 'pieces'; pieces: Iterable<BodyPiece> }
  /** Plain text, e.g. of the health checks. */
  | { type: 'text'; text: string }
  /** Nothing has changed since the client's copy. */
  | { type: 'notModified'; etag: string }
  /** A body that is made while it is sent. `write` ends early when the client goes. */
  | { type: 'stream'; contentType: string; write: (response: Writable) => Promise<void> };

/** 200 with a small object. */
export function ok(value: unknown): ApiResponse {
  return { type: 'value', code: 200, value };
}
