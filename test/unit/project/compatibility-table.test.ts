/** The README's table of clients lists exactly the tested clients, and none that failed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLIENT_NAMES } from '../../harness/clients/client-binaries.js';
import { TABLE_BEGIN, TABLE_END } from '../../harness/clients/compatibility-table.js';

const README = resolve(dirname(fileURLToPath(import.meta.url)), '../../../../README.md');

test('the table has a row for every client that tests run, and each client passed all of its tests', () => {
  const text = readFileSync(README, 'utf8').split(TABLE_BEGIN)[1]?.split(TABLE_END)[0] ?? '';
  const rows = text
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()));
  assert.deepEqual(
    rows.map(([, program, version]) => `${program}-${version}`),
    CLIENT_NAMES,
  );
  for (const [, , , tests, passed] of rows) {
    assert.ok(Number(passed) > 0);
    assert.equal(passed, tests);
  }
});
