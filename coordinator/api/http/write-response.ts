/** Sends responses. */
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { ApiResponse } from './api-context.js';
import { type BodyPiece, inChunks } from './paced-writer.js';

const JSON_TYPE = 'application/json';
/** kube-apiserver's threshold. */
const GZIP_FROM_BYTES = 128 * 1024;
/** A response with fewer pieces is small. */
const SMALL_PIECES = 20;
/** Maximum size of all warnings of a response. kube-apiserver truncates at 4 KiB, too. */
const MAX_WARNING_BYTES = 4096;

export interface WriteContext {
  /** Shared by all long responses. */
  slice: TimeSlice;
  /** Time without progress after which a slow reader's connection is closed. */
  stallMs: number;
  warnings: readonly string[];
  acceptsGzip: boolean;
}

function isControl(character: string): boolean {
  const code = character.charCodeAt(0);
  return code < 0x20 || code === 0x7f;
}

/**
 * Returns `Warning:` header values (RFC 7234 5.5): quoted, without control characters, UTF-8 bytes as latin1, which
 * Node expects.
 */
export function warningHeaders(texts: readonly string[]): string[] {
  const headers: string[] = [];
  let bytes = 0;
  for (const text of new Set(texts)) {
    const clean = [...text].map((character) => (isControl(character) ? ' ' : character)).join('');
    const header = Buffer.from(`299 - "${clean.replace(/[\\"]/g, '\\$&')}"`).toString('latin1');
    bytes += header.length;
    if (bytes > MAX_WARNING_BYTES) break;
    headers.push(header);
  }
  return headers;
}

async function* following(first: Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  yield* rest;
}

/** A body of one chunk is sent with its length. A longer one is encoded while it is sent. */
async function writePieces(
  reply: FastifyReply,
  pieces: Iterable<BodyPiece>,
  context: WriteContext,
): Promise<void> {
  const chunks = inChunks(pieces, context.slice, SMALL_PIECES);
  const first = await chunks.next();
  const second = await chunks.next();
  if (first.done || second.done) {
    await reply.send(first.done ? '' : first.value);
    return;
  }
  const body = Readable.from(following([first.value, second.value], chunks), { objectMode: false });
  reply.raw.setTimeout(context.stallMs, () => reply.raw.destroy());
  const isLong = first.value.length + second.value.length >= GZIP_FROM_BYTES;
  if (context.acceptsGzip && isLong) {
    reply.header('content-encoding', 'gzip');
    await reply.send(body.pipe(createGzip({ level: 1 })));
  } else {
    await reply.send(body);
  }
}

/** Sends the response. If a stream fails after its head was sent, the connection is closed. */
export async function writeResponse(
  reply: FastifyReply,
  answer: ApiResponse,
  context: WriteContext,
): Promise<void> {
  reply.header('cache-control', 'no-cache, private');
  const warnings = warningHeaders(context.warnings);
  if (warnings.length > 0) reply.header('warning', warnings);
  switch (answer.type) {
    case 'value':
      reply
        .code(answer.code)
        .type(JSON_TYPE)
        .headers(answer.headers ?? {});
      await reply.send(JSON.stringify(answer.value));
      return;
    case 'bytes':
      reply
        .code(answer.code)
        .type(JSON_TYPE)
        .headers(answer.headers ?? {});
      await reply.send(answer.bytes);
      return;
    case 'pieces':
      reply.type(JSON_TYPE);
      return writePieces(reply, answer.pieces, context);
    case 'text':
      await reply
        .code(answer.code ?? 200)
        .type('text/plain; charset=utf-8')
        .send(answer.text);
      return;
    case 'notModified':
      await reply.code(304).headers({ etag: answer.etag, vary: 'Accept' }).send();
      return;
    case 'stream':
      return writeStream(reply, answer);
  }
}

async function writeStream(
  reply: FastifyReply,
  answer: Extract<ApiResponse, { type: 'stream' }>,
): Promise<void> {
  reply.type(answer.contentType).headers(answer.headers ?? {});
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.raw.flushHeaders();
  try {
    await answer.write(reply.raw);
    reply.raw.end();
  } catch (error) {
    reply.raw.destroy();
    throw error;
  }
}
