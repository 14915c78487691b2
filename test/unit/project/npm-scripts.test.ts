/** Every script of package.json that takes options tells them by `--help`, and refuses others before it does anything. */
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
/** Its name, and what runs once the build is done: `up` and `down` are the product's. */
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
    assert.match(told.stdout, /^(Usage: )?npm (run )?[a-z-]+ -- /);
    const refused = run(words, '--no-such-option');
    assert.deepEqual([refused.status, refused.stdout], [2, '']);
    assert.match(refused.stderr, /^.*--no-such-option.*\n$/);
  });

test('every npm script that documents and scripts name exists', () =>
  assert.ok(OURS.length >= 12, String(OURS.length)));
