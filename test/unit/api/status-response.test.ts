/** Status objects against the constructors of apimachinery pkg/api/errors: which of them have `details`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { methodNotAllowed, pathNotFound, statusOf } from '../../../coordinator/api/http/status-response.js';
import {
  ApiError,
  internalError,
  type StatusReason,
  timedOut,
} from '../../../shared/kube/objects/api-status.js';
import { silentLogger } from '../../../shared/process/output/logger.js';

const detailsOf = (reason: StatusReason) => new ApiError(reason, 'text').toStatus().details;

test('a Status has details wherever upstream always sets them, even if empty', () => {
  const withDetails = [
    'Forbidden',
    'NotFound',
    'MethodNotAllowed',
    'AlreadyExists',
    'Conflict',
    'Invalid',
    'TooManyRequests',
    'InternalError',
    'Timeout',
  ] as const;
  for (const reason of withDetails) assert.deepEqual(detailsOf(reason), {}, reason);
});

test('a Status has no details where upstream never sets them', () => {
  const without = [
    'BadRequest',
    'Unauthorized',
    'Gone',
    'Expired',
    'RequestEntityTooLarge',
    'ServiceUnavailable',
  ] as const;
  for (const reason of without) assert.equal(detailsOf(reason), undefined, reason);
});

test('an unknown path is 404 and a wrong method 405, with empty details (NewGenericServerResponse)', () => {
  assert.deepEqual(pathNotFound().toStatus(), {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'the server could not find the requested resource',
    reason: 'NotFound',
    details: {},
    code: 404,
  });
  const { message, details, code } = methodNotAllowed().toStatus();
  const text = 'the server does not allow this method on the requested resource';
  assert.deepEqual([message, details, code], [text, {}, 405]);
});

test('an internal error names its cause (NewInternalError), a timeout itself (NewTimeoutError)', () => {
  const { message, details } = internalError('no store').toStatus();
  assert.equal(message, 'Internal error occurred: no store');
  assert.deepEqual(details, { causes: [{ message: 'no store' }] });
  assert.equal(timedOut('too slow').toStatus().message, 'Timeout: too slow');
});

test('an unexpected error is answered without its message', () => {
  const { code, message } = statusOf(new Error('/var/lib/secret'), silentLogger);
  assert.deepEqual([code, message], [500, 'Internal error occurred: see the log of the coordinator']);
});
