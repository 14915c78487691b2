/** Requests to the coordinator's API, authenticated by the session cookie. Errors carry the API's `Status`. */
import type { Status, StatusCause } from '../../shared/kube/objects/api-status.js';
import { permissionText } from './permission-text.js';
import { isTransientCode } from './transient-code.js';

/** An error from the API, or a network failure (`code` 0). */
export class ApiCallError extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly causes: readonly StatusCause[] = [],
  ) {
    super(message);
    this.name = 'CallError';
  }
}

interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  body?: unknown;
  contentType?: string;
  /** Media type of the response. Plain JSON if absent. */
  accept?: string;
  /** Replaces the session's credential. */
  authorization?: string;
  /** The response body is not needed. The coordinator can skip it. */
  isMinimal?: boolean;
  /** A POST without side effects, such as an access review. It may be retried. */
  isQuestion?: boolean;
  signal?: AbortSignal;
}

const MAX_ATTEMPTS = 3;
const RETRY_MS = 500;

/** Protection against cross-site requests: other sites can make the browser send the cookie, but not this header. */
const OWN_PAGE = { 'x-everynode-console': '1' };

/** Returns the response. Rejects with `ApiCallError` unless the status is 2xx. */
export async function requestApi(path: string, call: Call = {}): Promise<Response> {
  const { method = 'GET', body, contentType = 'application/json', authorization, isMinimal, signal } = call;
  const { accept = 'application/json' } = call;
  const headers = {
    ...OWN_PAGE,
    accept,
    ...(body === undefined ? {} : { 'content-type': contentType }),
    ...(authorization ? { authorization } : {}),
    ...(isMinimal ? { prefer: 'return=minimal' } : {}),
  };
  const response = await fetch(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiCallError(0, 'Unreachable', 'the coordinator is unreachable');
  });
  if (!response.ok) {
    const status = (await response.json().catch(() => ({}))) as Partial<Status>;
    throw errorOfStatus({ ...status, code: response.status });
  }
  return response;
}

/** Returns the response as JSON. Retries requests without side effects. Rejects with `ApiCallError`. */
export async function callApi<T>(path: string, options: Call = {}): Promise<T> {
  const { method = 'GET', isQuestion = method === 'GET', signal } = options;
  for (let tries = 1; ; tries += 1) {
    try {
      return (await (await requestApi(path, options)).json()) as T;
    } catch (error) {
      const isUnreachable = error instanceof ApiCallError && error.code === 0;
      if (!isUnreachable || !isQuestion || tries >= MAX_ATTEMPTS || signal?.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/**
 * Returns true if the same request may succeed later: the coordinator was unreachable, failed, or ended the connection
 * before the whole answer had arrived.
 */
export function isTransient(error: unknown): boolean {
  return !(error instanceof ApiCallError) || isTransientCode(error.code);
}

const MAX_WAIT_MS = 10_000;

/** Like `callApi` for a request without side effects. Repeats it until the coordinator answers, also with a refusal. */
export async function callUntilAnswered<T>(path: string, options: Omit<Call, 'signal'> = {}): Promise<T> {
  for (let waitMs = RETRY_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    try {
      return await callApi<T>(path, { ...options, isQuestion: true });
    } catch (error) {
      if (!isTransient(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}

/** Window event: the session has ended, because the user signed out elsewhere or the coordinator restarted. */
export const SIGNED_OUT = 'everynode-session-ended';

export function errorOfStatus({ code = 0, reason, message, details }: Partial<Status>): ApiCallError {
  if (code === 401) dispatchEvent(new CustomEvent(SIGNED_OUT));
  const text = message ?? `the coordinator responded with status ${code}`;
  return new ApiCallError(
    code,
    reason ?? 'Unknown',
    code === 403 ? permissionText(text) : text,
    details?.causes,
  );
}
