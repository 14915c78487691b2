/** A worker thread that builds and compresses the OpenAPI v2 document, so that the event loop keeps running. */
import { parentPort, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { allDefinitions } from './all-definitions.js';
import { etagOf } from './document-etag.js';
import { documentV2 } from './document-v2.js';
import { encodeDocument } from './gnostic-document.js';
import type { DocumentedResource } from './paths-v2.js';
import type { SchemaV2 } from './schema-v2.js';

/** A document in one form. */
interface EncodedDocument {
  /** Compressed with gzip. */
  bytes: Uint8Array;
  etag: string;
}

export type DocumentForm = 'json' | 'protobuf';
export type DocumentV2Reply = Readonly<Record<DocumentForm, EncodedDocument>>;

function encoded(bytes: Uint8Array): EncodedDocument {
  return { bytes: gzipSync(bytes), etag: etagOf(bytes) };
}

export interface DocumentV2Request {
  resources: readonly DocumentedResource[];
  /** Definitions of custom kinds. */
  custom: Readonly<Record<string, SchemaV2>>;
}

function build({ resources, custom }: DocumentV2Request): DocumentV2Reply {
  const document = documentV2(resources, allDefinitions(), custom);
  return {
    json: encoded(Buffer.from(JSON.stringify(document))),
    protobuf: encoded(encodeDocument(document)),
  };
}

parentPort?.postMessage(build(workerData));
