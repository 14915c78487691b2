/**
 * Every script of package.json with options lists them under `--help`, and rejects other options before it does
 * anything.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(fileURLToPath(import.meta.url), '../../../../..');
const { scripts } = JSON.parse(readFileSync(resolve(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
/** The script's name and the command after the build. `up` and `down` belong to the product. */
const OURS = Object.entries(scripts).flatMap(([name, line]) => {
  const words = / --run ((?:dist\/test|release)\/.*)/.exec(line)?.[1]?.split(' ');
  return words ? [{ name, words }] : [];
});

function run(words: readonly string[], option: string) {
  return spawnSync(process.execPath, [...words, option], { cwd: ROOT, encoding: 'utf8' });
}

for (const { name, words } of OURS)
  test(`npm run ${name}`, () => {
    const told = run(words, '--help');
    assert.equal(told.status, 0, told.stderr);
    assert.match(told.stdout, /^(Usage: )?npm (run )?[a-z:-]+ -- /);
    const refused = run(words, '--no-such-option');
    assert.deepEqual([refused.status, refused.stdout], [2, '']);
    assert.match(refused.stderr, /^.*--no-such-option.*\n$/);
  });

test('every npm script that documents and scripts name exists', () =>
  assert.ok(OURS.length >= 12, String(OURS.length)));
