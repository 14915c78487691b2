/**
 * No text contains a command that could fetch a package called everynode from the public registry, because that name
 * belongs to another owner.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../../..');
const BARE = /\bnp(?:x|m (?:exec|x))(?! +--no ) (?:.* )?everynode/;

function linesOf(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return text.includes('\0') ? [] : text.split('\n');
}

for (const [line, isBare] of [
  [`npx ${'everynode'} why ds/a`, true],
  [`npm exec ${'everynode-agent'}`, true],
  [`npx --yes ${'everynode'} up`, true],
  ['npx --no everynode why ds/a', false],
  ['npm exec --no everynode up', false],
  ['npm install -g everynode.tgz', false],
] as const) {
  test(`"${line}" ${isBare ? 'can fetch foreign code' : 'cannot fetch foreign code'}`, () => {
    assert.equal(BARE.test(line), isBare);
  });
}

test('no file of the project contains a command that can fetch foreign code', () => {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => path && path !== 'test/unit/project/no-bare-npx.test.ts' && path !== 'CHANGELOG.md');
  assert.ok(files.length > 1000);
  const bare = files.flatMap((path) =>
    linesOf(path)
      .filter((line) => BARE.test(line))
      .map((line) => `${path}: ${line.slice(0, 160)}`),
  );
  assert.deepEqual(bare, []);
});
