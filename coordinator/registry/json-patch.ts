/** JSON patch, RFC 6902. */
import { applyPatch, type Operation } from 'rfc6902';
import { ApiError, badRequest } from '../../shared/kube/status.js';
import { copyJson, isJsonMap, type JsonMap } from './json-value.js';

/** Upstream's limit (`maxJSONPatchOperations`): a `copy` doubles what it copies. */
const MAX_OPERATIONS = 10_000;

const INDEX = /^(0|[1-9]\d*)$/;

/** 422 in upstream's words; what exactly went wrong is its cause. */
function unprocessable(problem: string): ApiError {
  return new ApiError('Invalid', 'the server rejected our request due to an error in our request', {
    causes: [{ reason: 'UnexpectedServerResponse', message: problem }],
  });
}

/** Throws a 400 for a body that is no list of operations, a 413 for too many. */
function readOperations(body: unknown): Operation[] {
  if (!Array.isArray(body) || !body.every((item) => isJsonMap(item) && typeof item.path === 'string')) {
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

/**
 * Whether a pointer stays within the document. The library would follow inherited names too, and `/data/toString/x`
 * would change the program itself.
 */
function staysInside(document: unknown, pointer: string): boolean {
  const tokens = pointer.split('/').slice(1);
  const names = tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = names.pop();
  const parent = names.reduce(child, document);
  if (Array.isArray(parent)) return last === '-' || INDEX.test(last ?? '');
  return isJsonMap(parent) && last !== '__proto__';
}

function perform(document: JsonMap, operation: Operation): void {
  const pointers = 'from' in operation ? [operation.path, operation.from] : [operation.path];
  const outside = pointers.find((pointer) => !staysInside(document, String(pointer)));
  if (outside !== undefined) {
    throw unprocessable(`${operation.op} operation does not apply: doc is missing path: "${outside}"`);
  }
  const [problem] = applyPatch(document, [operation]);
  if (problem) throw unprocessable(`${operation.op} operation does not apply: ${problem.message}`);
}

/** `document` changed by the operations, all of them or (422) none. */
export function applyJsonPatch(document: JsonMap, body: unknown): JsonMap {
  const operations = readOperations(body);
  const patched = copyJson(document);
  for (const operation of operations) perform(patched, copyJson(operation));
  return patched;
}
