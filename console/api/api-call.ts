/** One request on the coordinator's API. The session's cookie goes with it; errors are the API's own `Status`. */
import type { Status, StatusCause } from '../../shared/kube/objects/api-status.js';

/** The API said no, or nobody answered (`code` 0). */
export class ApiCallError extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    /** What is wrong with which field, where the API says it. */
    readonly causes: readonly StatusCause[] = [],
  ) {
    super(message);
    this.name = 'CallError';
  }
}

/** What a request may carry. */
interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  body?: unknown;
  contentType?: string;
  /** A credential that is not the session's. */
  authorization?: string;
  /** Nothing of the answer is needed but whether it succeeds: spares the coordinator a rehearsal. */
  isMinimal?: boolean;
  /** A POST that changes nothing, such as a review. */
  isQuestion?: boolean;
  signal?: AbortSignal;
}

const MOST_TRIES = 3;
const RETRY_MS = 500;

/** A cookie alone may come from any page; this header cannot. */
const OWN_PAGE = { 'x-everynode-console': '1' };

/** The raw answer. Rejects with `CallError` for every answer but 2xx. */
export async function requestApi(path: string, call: Call = {}): Promise<Response> {
  const { method = 'GET', body, contentType = 'application/json', authorization, isMinimal, signal } = call;
  const headers = {
    ...OWN_PAGE,
    accept: 'application/json',
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
    throw new ApiCallError(0, 'Unreachable', 'the coordinator does not answer');
  });
  if (!response.ok) {
    const status = (await response.json().catch(() => ({}))) as Partial<Status>;
    throw errorOfStatus({ ...status, code: response.status });
  }
  return response;
}

/** The answer as JSON. What changes nothing is asked again where nobody answered: a network that comes and goes. Rejects with `CallError`. */
export async function callApi<T>(path: string, options: Call = {}): Promise<T> {
  const { method = 'GET', isQuestion = method === 'GET', signal } = options;
  for (let tries = 1; ; tries += 1) {
    try {
      return (await (await requestApi(path, options)).json()) as T;
    } catch (error) {
      const isUnheard = error instanceof ApiCallError && error.code === 0;
      if (!isUnheard || !isQuestion || tries >= MOST_TRIES || signal?.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** Told to the window when the session is over: it was ended elsewhere, or the coordinator began anew. */
export const SIGNED_OUT = 'everynode-session-ended';

/** What the API said no with. */
export function errorOfStatus({ code = 0, reason, message, details }: Partial<Status>): ApiCallError {
  if (code === 401) dispatchEvent(new CustomEvent(SIGNED_OUT));
  return new ApiCallError(
    code,
    reason ?? 'Unknown',
    message ?? `the coordinator answered ${code}`,
    details?.causes,
  );
}
