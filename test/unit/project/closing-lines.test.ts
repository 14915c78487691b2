/** The closing lines of `npm test`: they name the failures of each Node, and count all. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import {
  addOutcome,
  closingLines,
  emptyOutcome,
  failWithoutTests,
  saveOutcome,
} from '../../runner/outcome.js';

const folder = temporaryDirectory();
const NODE = `Node ${process.version.slice(1)}`;

function outcomeOf(passed: number, failed: string[] = [], leftOut: string[] = []) {
  return { ...emptyOutcome(), passed, failed, leftOut: new Set(leftOut) };
}

test('failures of an earlier run are named with its Node, in front of those of this run, and counted', () => {
  const file = join(folder, 'earlier');
  saveOutcome(file, outcomeOf(5, ['unit/a.test.js › one'], ['no engine']));
  const outcome = outcomeOf(7, ['unit/b.test.js › two'], ['no browser']);
  addOutcome(outcome, file);
  assert.deepEqual(closingLines(outcome), [
    `failed: ${NODE}: unit/a.test.js › one`,
    'failed: unit/b.test.js › two',
    `left out: ${NODE}: no engine`,
    'left out: no browser',
    '12 passed, 2 failed',
  ]);
});

for (const [what, text] of [
  ['wrote nothing', ''],
  ['was killed while it wrote', '{"passed":'],
  ['saved null', 'null'],
  ['saved no fields', '{}'],
  ['saved a list', '[]'],
  ['saved its count as text', '{"node":"v22.1.0","passed":"3","failed":[],"leftOut":[]}'],
  ['saved a negative count', '{"node":"v22.1.0","passed":-1,"failed":[],"leftOut":[]}'],
  ['saved failures without names', '{"node":"v22.1.0","passed":3,"failed":[1],"leftOut":[]}'],
  ['saved no Node', '{"passed":3,"failed":[],"leftOut":[]}'],
])
  test(`an earlier run that ${what} is a failure`, () => {
    const file = join(folder, 'broken');
    writeFileSync(file, text ?? '');
    const outcome = outcomeOf(7);
    addOutcome(outcome, file);
    assert.deepEqual(closingLines(outcome), [
      `failed: the run that saves its outcome in ${file} saved none or a damaged one, see its output`,
      '7 passed, 1 failed',
    ]);
  });

test('an earlier run without tests is a failure', () => {
  const file = join(folder, 'empty');
  saveOutcome(file, outcomeOf(0));
  const outcome = outcomeOf(7);
  addOutcome(outcome, file);
  assert.deepEqual(closingLines(outcome), [`failed: ${NODE}: no test ran`, '7 passed, 1 failed']);
});

test('an earlier run that fails after its tests have passed is a failure', () => {
  const file = join(folder, 'failed-later');
  saveOutcome(file, outcomeOf(5));
  const outcome = outcomeOf(7);
  addOutcome(outcome, file, 3);
  const why = 'the run ended with exit code 3 without a failed test, see its output';
  assert.deepEqual(closingLines(outcome), [`failed: ${NODE}: ${why}`, '12 passed, 1 failed']);
});

test('the exit code of an earlier run is no further failure next to its failed tests', () => {
  const file = join(folder, 'failed-test');
  saveOutcome(file, outcomeOf(5, ['unit/a.test.js › one']));
  const outcome = outcomeOf(7);
  addOutcome(outcome, file, 1);
  assert.deepEqual(closingLines(outcome), [`failed: ${NODE}: unit/a.test.js › one`, '12 passed, 1 failed']);
});

test('a run without tests is a failure, also if tests of an earlier run passed', () => {
  const file = join(folder, 'passed');
  saveOutcome(file, outcomeOf(5));
  const outcome = outcomeOf(0);
  failWithoutTests(outcome);
  addOutcome(outcome, file);
  assert.deepEqual(closingLines(outcome), ['failed: no test ran', '5 passed, 1 failed']);
});

test('a run with tests is no failure', () => {
  const outcome = outcomeOf(1);
  failWithoutTests(outcome);
  assert.deepEqual(outcome.failed, []);
});

test('files that take long are named, the longest first', () => {
  const seconds = new Map([
    ['unit/quick.test.js', 2],
    ['e2e/slow.test.js', 61.4],
    ['e2e/slower.test.js', 120.6],
  ]);
  assert.deepEqual(closingLines({ ...outcomeOf(3), seconds }), [
    'took 121 s: e2e/slower.test.js',
    'took 61 s: e2e/slow.test.js',
    '3 passed, 0 failed',
  ]);
});
