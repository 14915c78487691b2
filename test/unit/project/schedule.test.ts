/** The schedule of `npm test`: no file is forgotten, none runs twice, and long files start first. */
import assert from 'node:assert/strict';
import { basename, join, relative } from 'node:path';
import { test } from 'node:test';
import { allSteps, COMPILED_SUITES, LONG_FILES, queuesOf, STEPS, testFiles } from '../../runner/schedule.js';

const pathOf = (file: string) => relative(COMPILED_SUITES, file);
const filesOf = (steps: ReturnType<typeof allSteps>) =>
  steps.flat().flatMap((lane) => queuesOf(lane).flatMap(({ files }) => files.map(pathOf)));

test('every test file runs in one step, of npm test or on request', () => {
  const all = testFiles(COMPILED_SUITES, true).map(pathOf).sort();
  assert.deepEqual(filesOf(allSteps()).sort(), all);
});

test('each file with a measured time exists and runs in npm test', () => {
  const known = new Set(filesOf(STEPS));
  const unknown = Object.keys(LONG_FILES).filter((file) => !known.has(`${file}.test.js`));
  assert.deepEqual(unknown, []);
});

test('files with a measured time start before the others of their lane', () => {
  const [queue] = queuesOf({ suites: ['console'], files: 2 });
  const first = queue?.files.slice(0, 2).map((file) => basename(file));
  assert.deepEqual(first, ['page-pictures.test.js', 'console.test.js']);
});

test('tours run one after another, next to the other files of their lane', () => {
  const lane = { suites: ['clients', 'e2e'], files: 5 };
  const queues = queuesOf(lane);
  const isTour = (file: string) => file.startsWith(join(COMPILED_SUITES, 'e2e/tour/'));
  assert.deepEqual(
    queues.map(({ files, concurrency }) => [files.some(isTour), concurrency]),
    [
      [true, 1],
      [false, 4],
    ],
  );
});
