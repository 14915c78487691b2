/** The schedule of `npm test`: no file is forgotten, none runs twice, and long files start first. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { test } from 'node:test';
import {
  allSteps,
  COMPILED_SUITES,
  emptySuites,
  filesOf,
  LONG_FILES,
  lanesOf,
  STEPS,
  testFiles,
} from '../../runner/schedule.js';

const pathOf = (file: string) => relative(COMPILED_SUITES, file);
const pathsOf = (steps: ReturnType<typeof allSteps>) => lanesOf(steps).flatMap(filesOf).map(pathOf);

test('every test file runs in one step, of npm test or on request', () => {
  const all = testFiles(COMPILED_SUITES, true).map(pathOf).sort();
  assert.deepEqual(pathsOf(allSteps()).sort(), all);
});

test('each file with a measured time exists and runs in npm test', () => {
  const known = new Set(pathsOf(STEPS));
  const unknown = Object.keys(LONG_FILES).filter((file) => !known.has(`${file}.test.js`));
  assert.deepEqual(unknown, []);
});

test('no suite lacks test files, and one that does is named', () => {
  assert.deepEqual(emptySuites(allSteps()), []);
  const step = [{ suites: ['unit', 'renamed', 'component/cli/renamed.test.js'], files: 2 }];
  assert.deepEqual(emptySuites([[step]]), ['renamed', 'component/cli/renamed.test.js']);
});

test('files with a measured time start before the others of their lane, the longest first', () => {
  const seconds = filesOf({ suites: ['component', 'console'], files: 2 })
    .map((file) => LONG_FILES[pathOf(file).replace('.test.js', '')])
    .map((measured) => measured ?? 'not measured');
  const measured = seconds.filter((each) => each !== 'not measured');
  assert.ok(measured.length > 1 && measured.length < seconds.length, 'both kinds of files exist');
  assert.deepEqual(
    seconds.slice(0, measured.length),
    [...measured].sort((a, b) => b - a),
  );
});

test('files of the simulation have a low priority, so that they do not delay the suites that run next to them', () => {
  const eager = filesOf({ suites: ['simulation'], files: 1 }).filter(
    (file) => !readFileSync(file, 'utf8').includes("harness/processes/low-priority.js'"),
  );
  assert.deepEqual(eager.map(pathOf), []);
});
