/** Lint and format are part of the tests. The compiler has checked strict types before any test runs. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

test('lint and format have no findings', () => {
  const checked = spawnSync('node_modules/.bin/biome', ['check', '--error-on-warnings', '.'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(checked.status, 0, checked.stdout + checked.stderr);
});

test('comments and documents are in plain English', () => {
  const checked = spawnSync(process.execPath, ['test/plain-english.mjs'], { cwd: ROOT, encoding: 'utf8' });
  assert.equal(checked.status, 0, checked.stdout + checked.stderr);
});
