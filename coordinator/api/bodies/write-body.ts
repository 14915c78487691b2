/** Reads the body and the options of a write. */
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { type BodyType, readTyped } from '../../registry/admission/typed-body.js';
import type { JsonMap } from '../../registry/encoding/json-value.js';
import type { Patch, RepeatedKeys, WriteOptions } from '../../registry/registry-options.js';
import { recordsChange } from '../audit/audit-event.js';
import { writeAuthorization } from '../auth/write-authorization.js';
import type { ApiDeps, ApiRequest } from '../http/api-context.js';
import { writeOptions } from '../resources/query-options.js';
import { type DecodedBody, readBody } from './body-decoder.js';
import type { RepeatedKey } from './repeated-keys.js';

type Review = NonNullable<WriteOptions['review']>;

/** kube-apiserver's limit. */
const MAX_FINDINGS = 100;

/** Throws 400 for an empty body, 413, 415. */
function requiredBodyAsWritten({ body, headers }: ApiRequest): DecodedBody {
  const decoded = readBody(body, headers.contentType);
  if (decoded === undefined) throw badRequest('the body of the request is empty');
  return decoded;
}

/** Returns the value of the body. Throws 400 for an empty body, 413, 415. */
export function requiredBody(request: ApiRequest): unknown {
  return requiredBodyAsWritten(request).value;
}

/** Returns the body as an object of this kind. Throws 400 for an empty body or another kind, 413, 415. */
export function requiredBodyOf(request: ApiRequest, type: BodyType): JsonMap {
  return readTyped(requiredBody(request), type);
}

/** Returns body and options of a create, an update, or a patch of this type. Throws 400, 413, 415, 422. */
export function readWrite(
  { identities }: Pick<ApiDeps, 'identities'>,
  request: ApiRequest,
  patchType?: Patch['type'],
): { body: unknown; options: WriteOptions } {
  const requested = writeOptions(request.info, request.headers.userAgent, request.warn);
  if (requested.dryRun) request.onDryRun();
  const review = writeAuthorization(identities.authorizer, request);
  const options = {
    ...requested,
    user: request.user.username,
    review: requested.dryRun ? review : auditedReview(request, review),
    groups: request.user.groups,
    annotate: request.annotate,
  };
  const decoded = requiredBodyAsWritten(request);
  if (options.fieldValidation === 'Ignore') return { body: decoded.value, options };
  const repeatedKeys = repeatedKeysFor(decoded, patchType);
  return { body: decoded.value, options: { ...options, ...(repeatedKeys ? { repeatedKeys } : {}) } };
}

/** Reports the object of each attempt to store it. The last attempt that is admitted is the one that is stored. */
function auditedReview(request: ApiRequest, review: Review): Review {
  const { info, user, onChange } = request;
  if (!recordsChange(info, user)) return review;
  const isSecret = info.group === '' && info.resource === 'secrets';
  return (kind, next, current) => {
    review(kind, next, current);
    onChange({ isSecret, before: current, after: next });
  };
}

function repeatedKeysFor(
  decoded: DecodedBody,
  patchType: Patch['type'] | undefined,
): RepeatedKeys | undefined {
  const found = decoded.repeatedKeys();
  if (patchType === 'json') return { by: 'patch', texts: jsonPatchTexts(decoded.value, found) };
  if (found.length === 0) return undefined;
  if (patchType === 'apply' || (!patchType && decoded.syntax === 'yaml')) {
    const lines = found.map(({ line, key }) => `line ${line}: key ${JSON.stringify(key)} already set in map`);
    return { by: 'yaml', lines };
  }
  if (patchType) return { by: 'patch', texts: found.map(({ path }) => `duplicate field "${path}"`) };
  return { by: 'type', paths: new Set(found.map(({ path }) => path)) };
}

const OPERATION_FIELDS = new Set(['op', 'path', 'from', 'value']);

/** Returns for each operation first its unknown fields, then its repeated fields (`jsonPatcher.applyJSPatch`). */
function jsonPatchTexts(operations: unknown, repeated: readonly RepeatedKey[]): string[] {
  if (!Array.isArray(operations)) return [];
  const texts: string[] = [];
  for (const [index, operation] of operations.entries()) {
    const names = typeof operation === 'object' && operation !== null ? Object.keys(operation) : [];
    const unknown = names.filter((name) => !OPERATION_FIELDS.has(name));
    texts.push(...unknown.map((name) => `json patch unknown field "[${index}].${name}"`));
    const own = repeated.filter(({ path, key }) => path.startsWith(`[${index}].`) && !unknown.includes(key));
    texts.push(...own.map(({ path }) => `json patch duplicate field "${path}"`));
    if (texts.length >= MAX_FINDINGS) break;
  }
  return texts.slice(0, MAX_FINDINGS);
}
