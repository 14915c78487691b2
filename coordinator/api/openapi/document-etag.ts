/** ETags of OpenAPI documents. Clients keep the documents on disk and send the ETag in `If-None-Match`. */
import { createHash } from 'node:crypto';

/** Headers of a request for a document. */
export interface DocumentHeaders {
  accept?: string;
  ifNoneMatch?: string;
  acceptsGzip?: boolean;
}

/** Returns the strong ETag of a document, with its quotes. */
export function etagOf(bytes: Uint8Array): string {
  return `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32).toUpperCase()}"`;
}

/** True if the client has the document with this ETag. */
export function isCached(etag: string, ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch?.split(/\s*,\s*/).includes(etag) ?? false;
}
