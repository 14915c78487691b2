import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warningHeaders } from '../../../coordinator/api/http/write-response.js';

test('a warning is quoted, and each text is sent once', () => {
  assert.deepEqual(warningHeaders(['unknown field "a\\b"', 'unknown field "a\\b"']), [
    '299 - "unknown field \\"a\\\\b\\""',
  ]);
});

test('a warning cannot break out of its header', () => {
  assert.deepEqual(warningHeaders(['a\r\nSet-Cookie: x']), ['299 - "a  Set-Cookie: x"']);
});

test('text beyond Latin-1 is sent as UTF-8 bytes', () => {
  assert.equal(Buffer.from(warningHeaders(['für 東'])[0] ?? '', 'latin1').toString('utf8'), '299 - "für 東"');
});

test('warnings together stay below 4 KiB', () => {
  const headers = warningHeaders(Array.from({ length: 1000 }, (_, at) => `unknown field "spec.field${at}"`));
  assert.ok(headers.join('').length <= 4096);
  assert.ok(headers.length > 50);
});
