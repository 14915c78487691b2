/** The only writer of errors: whatever was thrown becomes a Status object. */
import {
  ApiError,
  internalError,
  type Status,
  type StatusReason,
} from '../../../shared/kube/objects/api-status.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import { MAX_BODY_BYTES } from '../bodies/body-decoder.js';

/** All that a client learns of an unexpected error. */
export const SEE_LOG = 'see the log of the coordinator';

/** 404 of a path or subresource that is not served (apimachinery `NewGenericServerResponse`). */
export function pathNotFound(): ApiError {
  return new ApiError('NotFound', 'the server could not find the requested resource');
}

/** 405 of a method that the path does not take. */
export function methodNotAllowed(): ApiError {
  return new ApiError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
}

/** An HTTP status that the server below us chose, as a reason. */
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
 * The Status that a client sees for anything thrown. The unexpected is logged with its stack
 * and answered with 500 InternalError that says nothing of the inside. `bodyLimit`: the most bytes that the route takes.
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
  log.error({ err: error }, 'a request failed unexpectedly');
  return internalError(SEE_LOG).toStatus();
}

/**
 * The bytes of a whole HTTP answer, for sockets that no framework answers on (refused upgrades, broken requests).
 * `code` may differ from the error's own: a request that is too slow is a 408, not the 504 of a slow server.
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
