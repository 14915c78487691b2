/**
 * `/openapi/v2`. A worker thread builds the document at the first request, and only its compressed forms are kept,
 * because most coordinators never serve it. Like kube-openapi `pkg/handler/handler.go`.
 */
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { gunzip } from 'node:zlib';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { ApiResponse } from '../http/api-context.js';
import { parseMediaType } from '../http/media-type.js';
import { type DocumentHeaders, isCached } from './document-etag.js';
import type { DocumentForm, DocumentV2Reply, DocumentV2Request } from './document-v2-worker.js';
import type { DocumentedResource } from './paths-v2.js';
import type { SchemaV2 } from './schema-v2.js';

const CONTENT_TYPES: Readonly<Record<DocumentForm, string>> = {
  json: 'application/json',
  protobuf: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
};
/** kubectl and client-go request this name. No response has it, because `@` is invalid in a media type. */
const OLD_PROTOBUF_TYPE = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

/** In upstream's order. */
const ACCEPTED: readonly [type: string, form: DocumentForm][] = [
  [CONTENT_TYPES.json, 'json'],
  [OLD_PROTOBUF_TYPE, 'protobuf'],
  [CONTENT_TYPES.protobuf, 'protobuf'],
];

/** Returns the form that an `Accept` header prefers. Throws 406. */
export function acceptedForm(accept = '*/*'): DocumentForm {
  const clauses = accept
    .split(',')
    .map(parseMediaType)
    .toSorted((a, b) => Number(b.parameters.q ?? 1) - Number(a.parameters.q ?? 1));
  for (const { type } of clauses) {
    const found = ACCEPTED.find(([name]) => [name, 'application/*', '*/*'].includes(type));
    if (found) return found[1];
  }
  const names = ACCEPTED.map(([name]) => name).join(', ');
  throw new ApiError('NotAcceptable', `only the following media types are accepted: ${names}`);
}

/** Copies what a message to a thread can contain: a row of the resource table has functions. */
function plain(resource: DocumentedResource): DocumentedResource {
  const { group, version, kind, namespaced, verbs, subresources, schema } = resource;
  const { singular, shortNames, categories } = resource;
  return {
    ...{ group, version, kind, resource: resource.resource, singular, shortNames, categories },
    ...{ namespaced, verbs, subresources },
    ...(schema === undefined ? {} : { schema }),
  };
}

function buildInThread(workerData: DocumentV2Request): Promise<DocumentV2Reply> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./document-v2-worker.js', import.meta.url), { workerData });
    worker.on('message', resolve);
    worker.on('error', reject);
    worker.on('exit', () => reject(new Error('the thread that builds OpenAPI v2 exited')));
  });
}

export class OpenApiV2 {
  #reply: Promise<DocumentV2Reply> | undefined;

  /** `custom` are the definitions of custom kinds. */
  constructor(
    private readonly resources: readonly DocumentedResource[],
    private readonly custom: Readonly<Record<string, SchemaV2>> = {},
  ) {}

  /** Returns the document, or 304. Throws 406 for an `Accept` header without a known type. */
  async respond({ accept, ifNoneMatch, acceptsGzip = false }: DocumentHeaders): Promise<ApiResponse> {
    const form = acceptedForm(accept);
    const { bytes, etag } = (await this.#documents())[form];
    if (isCached(etag, ifNoneMatch)) return { type: 'notModified', etag };
    const headers = { 'content-type': CONTENT_TYPES[form], etag, vary: 'Accept, Accept-Encoding' };
    if (!acceptsGzip) return { type: 'bytes', code: 200, bytes: await promisify(gunzip)(bytes), headers };
    const gzipped = { ...headers, 'content-encoding': 'gzip' };
    return {
      type: 'bytes',
      code: 200,
      bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      headers: gzipped,
    };
  }

  /** Concurrent first requests share one thread. A failure is not kept, so the next request tries again. */
  #documents(): Promise<DocumentV2Reply> {
    this.#reply ??= buildInThread({ resources: this.resources.map(plain), custom: this.custom }).catch(
      (error: unknown) => {
        this.#reply = undefined;
        throw error;
      },
    );
    return this.#reply;
  }
}
