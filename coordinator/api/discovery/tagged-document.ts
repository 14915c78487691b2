/** Documents that clients cache by their ETag. They change only with the coordinator's version. */
import type { ApiResponse } from '../http/api-context.js';
import { etagOf, isCached } from '../openapi/document-etag.js';

export interface TaggedDocument {
  bytes: Buffer;
  /** In double quotes, as in the header. */
  etag: string;
}

/** Encodes a document once. The tag is a hash of its content, so that every coordinator of a fleet has the same. */
export function taggedDocument(value: unknown): TaggedDocument {
  const bytes = Buffer.from(JSON.stringify(value));
  return { bytes, etag: etagOf(bytes) };
}

/**
 * Returns 304 if the client has this document (`If-None-Match`), else the document. `Vary: Accept` keeps a cache from
 * answering with another form of the same path.
 */
export function taggedAnswer(
  { bytes, etag }: TaggedDocument,
  ifNoneMatch: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse {
  if (isCached(etag, ifNoneMatch)) return { type: 'notModified', etag };
  return { type: 'bytes', code: 200, bytes, headers: { ...headers, etag, vary: 'Accept' } };
}
