/** Translates the store's errors to API errors. */
import { ApiError, alreadyExists, internalError, notFound } from '../../shared/kube/objects/api-status.js';
import type { Kind } from '../kinds/kind.js';
import { Expired, KeyExists, KeyMissing, MAX_VALUE_BYTES, ValueTooLarge } from '../store/store.js';
import { StoreError } from '../store/store-error.js';

/** Thrown by a decision about a write that needs facts which most writes do not need. `load` loads them for the next try. */
export class FactsMissing extends Error {
  constructor(readonly load: () => Promise<void>) {
    super('the write is decided again with more facts');
  }
}

/** 410: the requested history is compacted (etcd3 `errors.go`). */
export function expired(revision: number | string): ApiError {
  return new ApiError('Expired', `too old resource version: ${revision}`);
}

const CONTINUE_EXPIRED =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/**
 * 410 for the next page of a list whose revision is compacted (etcd3 `handleCompactedErrorForPaging`).
 * `inconsistentToken` continues the list at the newest revision.
 */
export function continueExpired(inconsistentToken: string): ApiError {
  return new ApiError('Expired', CONTINUE_EXPIRED, undefined, inconsistentToken);
}

/** 405 for a verb that a kind does not have. */
export function methodNotAllowed(): ApiError {
  return new ApiError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
}

/** Returns the ApiError for a failed read of the store. Unknown errors are returned unchanged. */
export function readError(error: unknown): unknown {
  return error instanceof Expired ? expired(error.revision) : error;
}

/** Returns the ApiError for a failed write of the object `name`. Unknown errors are returned unchanged. */
export function writeError(error: unknown, kind: Kind, name: string): unknown {
  if (error instanceof KeyExists) return alreadyExists(kind, name);
  if (error instanceof KeyMissing) return notFound(kind, name);
  if (error instanceof ValueTooLarge) {
    const text = `${kind.kind} "${name}" is too large: ${error.bytes} bytes, the limit is ${MAX_VALUE_BYTES}`;
    return new ApiError('RequestEntityTooLarge', text);
  }
  return error instanceof StoreError ? storeFailure(error) : error;
}

/** The message for clients. The coordinator's log names the path. */
const DISK_FULL =
  'the disk of the coordinator is full and nothing was written. Reads keep working, and writes work again once there is free space';
const NO_QUORUM =
  'etcd does not answer, so nothing was written. Reads and hosts continue, and writes work again once most etcd members are up';
const UNKNOWN_OUTCOME =
  'etcd did not answer in time. The write may still take effect: read the object before you repeat it';
const STOPPING = 'the coordinator is stopping and nothing was written';

/** Clients learn only whether to retry. Paths and messages of SQLite are for the operator. */
function storeFailure({ code }: StoreError): ApiError {
  if (code === 'full') return new ApiError('ServiceUnavailable', DISK_FULL);
  if (code === 'unavailable') return new ApiError('ServiceUnavailable', NO_QUORUM);
  if (code === 'unknown') return new ApiError('Timeout', UNKNOWN_OUTCOME);
  if (code === 'closed') return new ApiError('ServiceUnavailable', STOPPING);
  return internalError(`the store cannot write: ${code}`);
}
