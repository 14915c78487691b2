/** The condition NamespaceDeletionContentFailure. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTENT_FAILURE, contentFailure } from '../../../coordinator/decisions/gc/namespace-conditions.js';

const FAILED = {
  type: CONTENT_FAILURE,
  status: 'True',
  reason: 'ContentDeletionFailed',
  message: 'Failed to delete all resource types, 2 remaining: a, b',
} as const;

test('failures are reported in one order, so that the same ones are written once', () => {
  assert.deepEqual(contentFailure(undefined, ['b', 'a']), FAILED);
  assert.deepEqual(contentFailure([FAILED], ['a', 'b']), FAILED);
});

test('a success is reported only after a failure', () => {
  const success = {
    type: CONTENT_FAILURE,
    status: 'False',
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  } as const;
  assert.deepEqual(contentFailure([FAILED], []), success);
  assert.equal(contentFailure([success], []), undefined);
  assert.equal(contentFailure(undefined, []), undefined);
});
