import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runTable } from '../../conformance/tables/run-table.js';

const CASES = join(dirname(fileURLToPath(import.meta.url)), '../../conformance/cases');

test('every case of validation.json is answered through the API as upstream answers it', async () => {
  const { total, failed } = await runTable(join(CASES, 'validation.json'));
  assert.ok(total > 0);
  assert.deepEqual(failed, []);
});
