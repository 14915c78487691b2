/** The table of clients in docs/clients.md: every client has a row, and none passed without a test. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLIENT_NAMES } from '../../harness/clients/client-binaries.js';
import { clientTable, TABLE_BEGIN, TABLE_END } from '../../harness/clients/compatibility-table.js';

const DOCUMENT = resolve(dirname(fileURLToPath(import.meta.url)), '../../../../docs/clients.md');

test('docs/clients.md has a row for every pinned client, and each that ran passed all of its tests', () => {
  const text = readFileSync(DOCUMENT, 'utf8').split(TABLE_BEGIN)[1]?.split(TABLE_END)[0] ?? '';
  const rows = text
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const names = rows.map(([, program, version]) => `${program}-${version}`);
  for (const client of CLIENT_NAMES) assert.ok(names.includes(client), client);
  for (const [, program, , what, result = ''] of rows) {
    if (what === 'nothing') assert.match(result, /^not run: ./, program);
    else assert.match(result, /^([1-9]\d*) of \1 passed$/, program);
  }
});

test('the table never shows a client as passed that was skipped, failed or had no test', () => {
  const what = new Set(['pages']);
  const table = clientTable(
    new Map([
      ['a-1', { what, passed: 0, failed: [], skipped: 'a is not installed' }],
      ['b-2', { what, passed: 1, failed: ['lists'], skipped: undefined }],
      ['c-3', { what, passed: 2, failed: [], skipped: undefined }],
    ]),
  ).split('\n');
  assert.ok(table.includes('| a | 1 | pages | not run: a is not installed |'));
  assert.ok(table.includes('| b | 2 | pages | 1 of 2 passed; failed: lists |'));
  assert.ok(table.includes('| c | 3 | pages | 2 of 2 passed |'));
  assert.ok(table.includes('| kubectl-1.20.0 | | nothing | not run: no test ran |'));
});
