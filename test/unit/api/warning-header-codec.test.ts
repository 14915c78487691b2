import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warningHeaders } from '../../../coordinator/api/http/write-response.js';
import { warningTexts } from '../../../coordinator/cli/client/api-http-client.js';

test('warnings of the API are decoded to their original text', () => {
  const texts = ['resume: it is neither paused nor frozen', 'a "quoted" \\ word', 'Grüße, and so on: …'];
  assert.deepEqual(warningTexts(warningHeaders(texts)), texts);
  assert.deepEqual(warningTexts(undefined), []);
  assert.deepEqual(warningTexts(['110 anderson/1.3.37 "Response is stale"', '299 - unquoted']), []);
});
