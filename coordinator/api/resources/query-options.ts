/** Parses the options of a request from its query and, for deletions, from its body. */
import { ApiError, badRequest, invalid } from '../../../shared/kube/objects/api-status.js';
import type { DeleteOptions, ListRequest, Selection, WriteOptions } from '../../registry/registry-options.js';
import { isSwitchedOn, type ResourceRequest } from '../http/request-info.js';

const FIELD_VALIDATIONS = ['Ignore', 'Warn', 'Strict'] as const;
const PROPAGATION_POLICIES = ['Background', 'Foreground', 'Orphan'] as const;
/** apimachinery validation `FieldManagerMaxLength`. */
const MAX_FIELD_MANAGER_LENGTH = 128;

/** Returns a 422 about options. Its kind names the options, e.g. `PatchOptions`. */
function invalidOption(field: string, value: string, supported: readonly string[]): ApiError {
  const message = `Unsupported value: "${value}": supported values: ${supported.map((v) => `"${v}"`).join(', ')}`;
  return new ApiError('Invalid', `options.meta.k8s.io "" is invalid: ${field}: ${message}`, {
    group: 'meta.k8s.io',
    causes: [{ reason: 'FieldValueNotSupported', message, field }],
  });
}

function oneOf<T extends string>(field: string, value: string, supported: readonly T[]): T {
  const found = supported.find((candidate) => candidate === value);
  if (found === undefined) throw invalidOption(field, value, supported);
  return found;
}

/**
 * Throws 400 for any other parameter, because a misspelt filter would return everything. `pretty` is always accepted,
 * because clients add it to any request.
 */
export function requireKnownParameters(query: URLSearchParams, known: readonly string[]): void {
  const unknown = [...query.keys()].find((key) => key !== 'pretty' && !known.includes(key));
  if (unknown === undefined) return;
  const supported = known.length === 0 ? 'none is supported' : `supported parameters are ${known.join(', ')}`;
  throw badRequest(`unknown parameter "${unknown}": ${supported}`);
}

/** Returns an integer of at least `least`, or undefined if the parameter is absent. Throws 400. */
export function integerParameter(query: URLSearchParams, name: string, least = 0): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
    throw badRequest(
      `invalid value ${JSON.stringify(text)} of the parameter ${name}: expected an integer >= ${least}`,
    );
  }
  return value;
}

function isDryRun(values: readonly string[]): boolean {
  for (const value of values) oneOf('dryRun', value, ['All']);
  return values.length > 0;
}

/** Returns the manager in the query, or else the client's program name (upstream `managerOrUserAgent`). Throws 422. */
function fieldManagerOf(query: URLSearchParams, userAgent: string | undefined): string {
  const named = query.get('fieldManager') ?? '';
  if (named.length > MAX_FIELD_MANAGER_LENGTH) {
    throw invalidOption('fieldManager', `${named.slice(0, 16)}…`, ['at most 128 characters']);
  }
  return named || (userAgent ?? 'unknown').split('/', 1)[0]?.slice(0, MAX_FIELD_MANAGER_LENGTH) || 'unknown';
}

const WRITABLE: ReadonlySet<string> = new Set(['status', 'approval', 'finalize', 'ephemeralcontainers']);

/** Returns true for a subresource that is a part of the stored object. */
function isWritable(
  subresource: string | undefined,
): subresource is NonNullable<WriteOptions['subresource']> {
  return subresource !== undefined && WRITABLE.has(subresource);
}

/**
 * Returns the options of create, update and patch. Like upstream, the default of `fieldValidation` is Warn. Throws 422.
 */
export function writeOptions(
  { query, subresource }: Pick<ResourceRequest, 'query' | 'subresource'>,
  userAgent: string | undefined,
  warn: (text: string) => void,
): WriteOptions {
  return {
    dryRun: isDryRun(query.getAll('dryRun')),
    fieldManager: fieldManagerOf(query, userAgent),
    fieldValidation: oneOf('fieldValidation', query.get('fieldValidation') || 'Warn', FIELD_VALIDATIONS),
    warn,
    ...(isWritable(subresource) ? { subresource } : {}),
  };
}

/**
 * Throws 422 for `force` without an apply, and for an apply without a manager (apimachinery `ValidatePatchOptions`).
 */
export function checkPatchOptions(query: URLSearchParams, isApply: boolean): void {
  const cause = isApply
    ? !query.get('fieldManager') && REQUIRED_MANAGER
    : query.get('force') !== null && FORBIDDEN_FORCE;
  if (!cause) return;
  throw invalid({ group: 'meta.k8s.io', resource: '', kind: 'PatchOptions' }, '', [cause]);
}

const REQUIRED_MANAGER = {
  reason: 'FieldValueRequired',
  message: 'Required value: is required for apply patch',
  field: 'fieldManager',
};
const FORBIDDEN_FORCE = {
  reason: 'FieldValueForbidden',
  message: 'Forbidden: may not be specified for non-apply patch',
  field: 'force',
};

export function selectionOf({ namespace, query }: Pick<ResourceRequest, 'namespace' | 'query'>): Selection {
  const labelSelector = query.get('labelSelector');
  const fieldSelector = query.get('fieldSelector');
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
  };
}

/** Throws 400. */
export function listOptions(request: Pick<ResourceRequest, 'namespace' | 'query'>): ListRequest {
  const { query } = request;
  const limit = integerParameter(query, 'limit');
  const token = query.get('continue');
  const resourceVersion = query.get('resourceVersion');
  const resourceVersionMatch = query.get('resourceVersionMatch');
  return {
    ...selectionOf(request),
    ...(limit ? { limit } : {}),
    ...(token ? { continue: token } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(resourceVersionMatch ? { resourceVersionMatch } : {}),
  };
}

function textField(body: object, name: string): string | undefined {
  const value: unknown = Reflect.get(body, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw badRequest(`DeleteOptions: ${name} must be a string`);
  return value;
}

/**
 * Throws 400 for anything but a list. Without this check, `dryRun: "All"` would not be a dry run and would delete the
 * object.
 */
function dryRunOf(body: object): readonly unknown[] {
  const dryRun: unknown = Reflect.get(body, 'dryRun') ?? [];
  if (!Array.isArray(dryRun)) throw badRequest('DeleteOptions: dryRun must be a list of strings');
  return dryRun;
}

/** Converts the body's fields to a query, so that one parser reads both. */
function bodyAsQuery(body: object): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ['gracePeriodSeconds', 'propagationPolicy', 'orphanDependents']) {
    const value: unknown = Reflect.get(body, name);
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  for (const value of dryRunOf(body)) query.append('dryRun', String(value));
  return query;
}

function preconditionsOf(body: object): DeleteOptions['preconditions'] {
  const given: unknown = Reflect.get(body, 'preconditions') ?? undefined;
  if (given === undefined) return undefined;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw badRequest('DeleteOptions: preconditions must be a JSON object');
  const uid = textField(given, 'uid');
  const resourceVersion = textField(given, 'resourceVersion');
  return { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
}

/** Accepts any apiVersion, because upstream registers the kind in every group. Throws 400. */
function deleteOptionsBody(body: unknown): object | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body !== 'object' || Array.isArray(body))
    throw badRequest('DeleteOptions: must be a JSON object');
  const kind: unknown = Reflect.get(body, 'kind') || 'DeleteOptions';
  if (kind !== 'DeleteOptions') {
    throw badRequest(`the body of a deletion must be DeleteOptions, not ${JSON.stringify(kind)}`);
  }
  return body;
}

/** Like upstream, reads the body if there is one, else the query. Throws 400, 422. */
export function deleteOptions(query: URLSearchParams, body: unknown): DeleteOptions {
  const given = deleteOptionsBody(body);
  const source = given ? bodyAsQuery(given) : query;
  const gracePeriodSeconds = integerParameter(source, 'gracePeriodSeconds');
  const policy = source.get('propagationPolicy');
  const preconditions = given && preconditionsOf(given);
  return {
    dryRun: isDryRun([...source.getAll('dryRun'), ...(given ? query.getAll('dryRun') : [])]),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(policy ? { propagationPolicy: oneOf('propagationPolicy', policy, PROPAGATION_POLICIES) } : {}),
    ...(source.has('orphanDependents') ? { orphanDependents: isSwitchedOn(source, 'orphanDependents') } : {}),
    ...(preconditions ? { preconditions } : {}),
  };
}
