import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageText, durationText } from '../../../coordinator/kinds/duration-text.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const CASES: [number, string][] = [
  [-2 * SECOND, '<invalid>'],
  [-1 * SECOND, '0s'],
  [0, '0s'],
  [119_999, '119s'],
  [120 * SECOND, '2m'],
  [4 * MINUTE + 44 * SECOND, '4m44s'],
  [10 * MINUTE + 5 * SECOND, '10m'],
  [179 * MINUTE, '179m'],
  [3 * HOUR, '3h'],
  [3 * HOUR + 5 * MINUTE, '3h5m'],
  [8 * HOUR + 5 * MINUTE, '8h'],
  [47 * HOUR, '47h'],
  [48 * HOUR, '2d'],
  [5 * DAY + 2 * HOUR, '5d2h'],
  [8 * DAY + 2 * HOUR, '8d'],
  [400 * DAY, '400d'],
  [2 * 365 * DAY, '2y'],
  [3 * 365 * DAY + 10 * DAY, '3y10d'],
  [9 * 365 * DAY + 10 * DAY, '9y'],
];

for (const [milliseconds, text] of CASES) {
  test(`${milliseconds} ms is ${text}`, () => assert.equal(durationText(milliseconds), text));
}

test('an object that was never stored has an unknown age', () => {
  assert.equal(ageText(undefined, 0), '<unknown>');
});
