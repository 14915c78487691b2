/** The Status object and `ApiError`, as in k8s.io/apimachinery api/errors. The API throws no other error. */

export type StatusReason =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Expired'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'Invalid'
  | 'TooManyRequests'
  | 'InternalError'
  | 'ServiceUnavailable'
  | 'Timeout'
  /** Exit of a command in a container. Never a response to a request. */
  | 'NonZeroExitCode';

export interface StatusCause {
  /** e.g. `FieldValueInvalid`, `FieldManagerConflict`. */
  reason?: string;
  message?: string;
  /** JSON path of the field, e.g. `spec.template.spec.containers[0].image`. */
  field?: string;
}

interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, unknown>;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: StatusReason;
  details?: StatusDetails;
  code?: number;
}

/** The names of a kind that error messages need. */
export interface ResourceNames {
  group: string;
  resource: string;
  kind: string;
}

const CODES: Record<StatusReason, number> = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
  NonZeroExitCode: 500,
};

/**
 * Reasons whose constructors in apimachinery pkg/api/errors always set `details`. Clients access its fields without a
 * check: `kubectl debug` crashes on a 404 without `details`.
 */
const WITH_DETAILS: ReadonlySet<StatusReason> = new Set([
  'Forbidden',
  'NotFound',
  'MethodNotAllowed',
  'AlreadyExists',
  'Conflict',
  'Invalid',
  'TooManyRequests',
  'InternalError',
  'Timeout',
]);

/** An error that is sent to the client. `code` is the HTTP status. */
export class ApiError extends Error {
  readonly reason: StatusReason;
  readonly code: number;
  readonly details: StatusDetails | undefined;
  /** The Status' `metadata.continue`: the rest of a list can be read with this token. */
  readonly continueToken: string | undefined;

  constructor(reason: StatusReason, message: string, details?: StatusDetails, continueToken?: string) {
    super(message);
    this.name = 'ApiError';
    this.reason = reason;
    this.code = CODES[reason];
    this.details = details;
    this.continueToken = continueToken;
  }

  toStatus(): Status {
    const details = this.details ?? (WITH_DETAILS.has(this.reason) ? {} : undefined);
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      ...(details ? { details } : {}),
      code: this.code,
    };
  }
}

/** True for a 404: the object does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'NotFound';
}

/** True if another object has the name. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'AlreadyExists';
}

/** True if the object was deleted (404), or replaced or changed since it was read (409). */
export function isGone(error: unknown): boolean {
  return isNotFound(error) || (error instanceof ApiError && error.reason === 'Conflict');
}

/** Runs a write; does nothing if the object `isGone`. The change of the object itself requeues the remaining work. */
export async function unlessGone(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** Resolves with what `read` finds, or with undefined if the object does not exist. */
export async function orUndefined<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Returns the name of a resource in error messages: `daemonsets.apps` or `pods`. */
export function qualifiedResource(names: Pick<ResourceNames, 'group' | 'resource'>): string {
  return names.group ? `${names.resource}.${names.group}` : names.resource;
}

function detailsOf(names: ResourceNames, name: string): StatusDetails {
  return { name, ...(names.group ? { group: names.group } : {}), kind: names.resource };
}

/** 404 `daemonsets.apps "x" not found`. */
export function notFound(names: ResourceNames, name: string): ApiError {
  return new ApiError('NotFound', `${qualifiedResource(names)} "${name}" not found`, detailsOf(names, name));
}

/** 409 `daemonsets.apps "x" already exists`. */
export function alreadyExists(names: ResourceNames, name: string): ApiError {
  const message = `${qualifiedResource(names)} "${name}" already exists`;
  return new ApiError('AlreadyExists', message, detailsOf(names, name));
}

/** The detail of a 409 on a stale resourceVersion. */
export const OBJECT_MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

/** 409 `Operation cannot be fulfilled on daemonsets.apps "x": <detail>`. */
export function conflict(names: ResourceNames, name: string, detail: string = OBJECT_MODIFIED): ApiError {
  const message = `Operation cannot be fulfilled on ${qualifiedResource(names)} "${name}": ${detail}`;
  return new ApiError('Conflict', message, detailsOf(names, name));
}

/** 422 with one cause for each field error; `DaemonSet.apps "x" is invalid: …`. */
export function invalid(names: ResourceNames, name: string, causes: StatusCause[]): ApiError {
  const kind = names.group ? `${names.kind}.${names.group}` : names.kind;
  const texts = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new ApiError('Invalid', `${kind} "${name}" is invalid: ${list}`, {
    ...(name ? { name } : {}),
    ...(names.group ? { group: names.group } : {}),
    kind: names.kind,
    causes,
  });
}

/** 500 `Internal error occurred: <detail>`. */
export function internalError(detail: string): ApiError {
  return new ApiError('InternalError', `Internal error occurred: ${detail}`, {
    causes: [{ message: detail }],
  });
}

export function timedOut(detail: string): ApiError {
  return new ApiError('Timeout', `Timeout: ${detail}`);
}

export function badRequest(message: string): ApiError {
  return new ApiError('BadRequest', message);
}
