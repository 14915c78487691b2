/** The schedule of `npm test`: no file is forgotten, none runs twice, and long files start first. */
import assert from 'node:assert/strict';
import { basename, relative } from 'node:path';
import { test } from 'node:test';
import { allSteps, COMPILED_SUITES, filesOf, LONG_FILES, STEPS, testFiles } from '../../runner/schedule.js';

const pathOf = (file: string) => relative(COMPILED_SUITES, file);
const pathsOf = (steps: ReturnType<typeof allSteps>) => steps.flat().flatMap(filesOf).map(pathOf);

test('every test file runs in one step, of npm test or on request', () => {
  const all = testFiles(COMPILED_SUITES, true).map(pathOf).sort();
  assert.deepEqual(pathsOf(allSteps()).sort(), all);
});

test('each file with a measured time exists and runs in npm test', () => {
  const known = new Set(pathsOf(STEPS));
  const unknown = Object.keys(LONG_FILES).filter((file) => !known.has(`${file}.test.js`));
  assert.deepEqual(unknown, []);
});

test('files with a measured time start before the others of their lane', () => {
  const files = filesOf({ suites: ['console'], files: 2 });
  const first = files.slice(0, 2).map((file) => basename(file));
  assert.deepEqual(first, ['page-pictures.test.js', 'console.test.js']);
});
