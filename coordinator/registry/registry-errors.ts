/** The store's errors in the words of the API. */
import { ApiError, alreadyExists, internalError, notFound } from '../../shared/kube/objects/api-status.js';
import type { Kind } from '../kinds/kind.js';
import { Expired, KeyExists, KeyMissing, MAX_VALUE_BYTES, ValueTooLarge } from '../store/store.js';
import { StoreError } from '../store/store-error.js';

/** 410: the history that was asked for is compacted (etcd3 `errors.go`). */
export function expired(revision: number | string): ApiError {
  return new ApiError('Expired', `too old resource version: ${revision}`);
}

/** 405 for a verb that a kind does not have. */
export function methodNotAllowed(): ApiError {
  return new ApiError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
}

/** The ApiError for what a read of the store threw; anything unknown is returned as it is. */
export function readError(error: unknown): unknown {
  return error instanceof Expired ? expired(error.revision) : error;
}

/** The ApiError for what a write of the object called `name` threw; anything unknown is returned as it is. */
export function writeError(error: unknown, kind: Kind, name: string): unknown {
  if (error instanceof KeyExists) return alreadyExists(kind, name);
  if (error instanceof KeyMissing) return notFound(kind, name);
  if (error instanceof ValueTooLarge) {
    const text = `${kind.kind} "${name}" is too large: ${error.bytes} bytes, the limit is ${MAX_VALUE_BYTES}`;
    return new ApiError('RequestEntityTooLarge', text);
  }
  return error instanceof StoreError ? storeFailure(error) : error;
}

/** What a client hears; the coordinator's log names the place. */
const DISK_FULL =
  'the disk of the coordinator is full: nothing was written. Reads go on, and writes do as soon as there is room';
const STOPPING = 'the coordinator is stopping: nothing was written';

/** The path and the engine's words are the operator's; a client hears whether to come again. */
function storeFailure({ code }: StoreError): ApiError {
  if (code === 'full') return new ApiError('ServiceUnavailable', DISK_FULL);
  if (code === 'closed') return new ApiError('ServiceUnavailable', STOPPING);
  return internalError(`the store cannot write: ${code}`);
}
