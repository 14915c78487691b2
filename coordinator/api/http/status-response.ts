/** Converts every thrown error into a Status object. No other file writes error responses. */
import {
  ApiError,
  internalError,
  type Status,
  type StatusReason,
} from '../../../shared/kube/objects/api-status.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import { MAX_BODY_BYTES } from '../bodies/body-decoder.js';

/** The only text that a client gets for an unexpected error. */
export const SEE_LOG = 'see the log of the coordinator';

/** Returns the 404 of an unknown path or subresource (apimachinery `NewGenericServerResponse`). */
export function pathNotFound(): ApiError {
  return new ApiError('NotFound', 'the server could not find the requested resource');
}

/** Returns the 405 of a method that the path does not support. */
export function methodNotAllowed(): ApiError {
  return new ApiError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
}

/** Status reasons for HTTP status codes that Fastify or Node chose. */
const REASON_BY_HTTP_CODE: Readonly<Record<number, StatusReason>> = {
  400: 'BadRequest',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  408: 'Timeout',
  413: 'RequestEntityTooLarge',
  414: 'BadRequest',
  415: 'UnsupportedMediaType',
  431: 'BadRequest',
};

function httpCodeOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}

/**
 * Returns the Status for a thrown error. An unexpected error is logged with its stack; the client gets 500
 * InternalError without details. `bodyLimit` is the route's maximum body size in bytes.
 */
export function statusOf(error: unknown, log: Logger, bodyLimit = MAX_BODY_BYTES): Status {
  if (error instanceof ApiError) return error.toStatus();
  const reason = REASON_BY_HTTP_CODE[httpCodeOf(error) ?? 0];
  if (reason) {
    const message =
      reason === 'RequestEntityTooLarge' ? `Request entity too large: limit is ${bodyLimit}` : '';
    const text = message || (error instanceof Error ? error.message : 'bad request');
    return new ApiError(reason, text).toStatus();
  }
  log.error({ err: error }, 'unexpected error in a request');
  return internalError(SEE_LOG).toStatus();
}

/**
 * Returns a complete HTTP response for sockets without a framework reply: refused upgrades, malformed requests. `code`
 * may differ from the error's code: a request that arrives too slowly is 408, while the error's reason Timeout means
 * 504.
 */
export function rawStatusResponse(error: ApiError, code: number = error.code): string {
  const body = `${JSON.stringify({ ...error.toStatus(), code })}\n`;
  return [
    `HTTP/1.1 ${code} ${error.reason}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
