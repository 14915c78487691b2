/** scenarios.json: upstream's answers, end to end, by real kubectl against real processes and hollow hosts. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runTable } from '../conformance/run-table.js';
import { findKubectl } from '../harness/kubectl.js';
import { leaveOut } from '../harness/leave-out.js';

const CASES = join(dirname(fileURLToPath(import.meta.url)), '../conformance/cases/scenarios.json');

test('every scenario ends as upstream has it', async (context) => {
  try {
    findKubectl();
  } catch (error) {
    return leaveOut(context, 'scenarios', `no kubectl: ${error instanceof Error ? error.message : error}`);
  }
  const { total, failed } = await runTable(CASES);
  assert.deepEqual(failed, []);
  assert.ok(total > 0);
});
