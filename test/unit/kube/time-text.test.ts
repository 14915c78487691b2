/** Texts that are valid times, as Go's clients decode them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hubTimeMs } from '../../../coordinator/hub/reports/host-time.js';
import { isTimeText } from '../../../shared/kube/objects/meta.js';

const TIMES: [text: string, isTime: boolean][] = [
  ['2026-01-31T23:59:59Z', true],
  ['2026-01-31T23:59:59.123456789Z', true],
  ['2026-01-31T23:59:59+05:30', true],
  ['2024-02-29T00:00:00Z', true],
  ['0000-02-29T00:00:00Z', true],
  ['9999-12-31T00:00:00Z', true],
  ['2026-02-29T00:00:00Z', false],
  ['2026-02-30T00:00:00Z', false],
  ['2026-04-31T00:00:00Z', false],
  ['2026-13-01T00:00:00Z', false],
  ['2026-01-00T00:00:00Z', false],
  ['2026-01-01T24:00:00Z', false],
  ['2026-01-01T00:60:00Z', false],
  ['2026-01-01T00:00:60Z', false],
  ['+252026-01-01T00:00:00Z', false],
  ['2026-01-01', false],
  ['2026-01-01T00:00:00', false],
  ['', false],
];

for (const [text, isTime] of TIMES) {
  test(`${JSON.stringify(text)} is ${isTime ? 'a time' : 'no time'}`, () =>
    assert.equal(isTimeText(text), isTime));
}

test('a time of a host with any clock has a year that clients can decode', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  for (const offsetMs of [-8.64e15, -1, 0, 1, 8.64e15, 2 * 8.64e15]) {
    const moved = hubTimeMs('2025-06-01T00:00:00Z', offsetMs, now);
    assert.ok(moved >= 0 && moved <= now, String(offsetMs));
  }
});
