/** JSON patch (RFC 6902). */

import { applyPatch, type Operation } from 'rfc6902';
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { copyJson, isJsonMap, type JsonMap } from '../encoding/json-value.js';

/** Upstream's limit (`maxJSONPatchOperations`). */
const MAX_OPERATIONS = 10_000;

/** Upstream's limit for all `copy` operations (AccumulatedCopySizeLimit): each can double the document. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

const INDEX = /^(0|[1-9]\d*)$/;

/** Returns upstream's 422 with `problem` as its cause. */
function unprocessable(problem: string): ApiError {
  return new ApiError('Invalid', 'the server rejected our request due to an error in our request', {
    causes: [{ reason: 'UnexpectedServerResponse', message: problem }],
  });
}

function isPointer(value: unknown): boolean {
  return typeof value === 'string' && (value === '' || value.startsWith('/'));
}

function isOperation(item: unknown): boolean {
  if (!isJsonMap(item) || typeof item.op !== 'string' || !isPointer(item.path)) return false;
  const needsFrom = item.op === 'copy' || item.op === 'move';
  return isPointer(item.from) || (!needsFrom && item.from === undefined);
}

/** Throws a 400 if the body is not a list of operations, and a 413 for too many operations. */
function readOperations(body: unknown): Operation[] {
  if (!Array.isArray(body) || !body.every(isOperation)) {
    throw badRequest('error decoding patch: a JSON patch is a list of operations, each with op and path');
  }
  if (body.length > MAX_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${body.length}`;
    throw new ApiError('RequestEntityTooLarge', message);
  }
  return body;
}

function child(parent: unknown, token: string): unknown {
  if (Array.isArray(parent)) return INDEX.test(token) ? parent[Number(token)] : undefined;
  return isJsonMap(parent) && Object.hasOwn(parent, token) ? parent[token] : undefined;
}

function tokensOf(pointer: string): string[] {
  const tokens = pointer.split('/').slice(1);
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * True if a pointer stays within the document. The library would also follow inherited names, so that a patch of
 * `/data/toString/x` could change a built-in function of this process.
 */
function staysInside(document: unknown, pointer: string): boolean {
  const names = tokensOf(pointer);
  const last = names.pop();
  const parent = names.reduce(child, document);
  if (Array.isArray(parent)) return last === '-' || INDEX.test(last ?? '');
  return isJsonMap(parent) && last !== '__proto__';
}

function perform(document: JsonMap, operation: Operation): void {
  const pointers = 'from' in operation ? [operation.path, operation.from] : [operation.path];
  const outside = pointers.find((pointer) => !staysInside(document, pointer));
  if (outside !== undefined) {
    throw unprocessable(`${operation.op} operation does not apply: doc is missing path: "${outside}"`);
  }
  const [problem] = applyPatch(document, [operation]);
  if (problem) throw unprocessable(`${operation.op} operation does not apply: ${problem.message}`);
}

/** Returns how many characters of JSON an operation copies. */
function copiedSize(document: unknown, operation: Operation): number {
  if (operation.op !== 'copy') return 0;
  return JSON.stringify(tokensOf(operation.from).reduce(child, document))?.length ?? 0;
}

/** Returns `document` after all operations. Throws a 422 if one fails. */
export function applyJsonPatch(document: JsonMap, body: unknown): JsonMap {
  const operations = readOperations(body);
  const patched = copyJson(document);
  let copied = 0;
  for (const operation of operations) {
    copied += copiedSize(patched, operation);
    if (copied > MAX_COPIED_BYTES) throw unprocessable(`copies of more than ${MAX_COPIED_BYTES} bytes`);
    perform(patched, copyJson(operation));
  }
  return patched;
}
