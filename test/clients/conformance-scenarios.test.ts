/** scenarios.json end to end: real kubectl, real processes and hollow hosts must give Kubernetes' answers. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runTable } from '../conformance/tables/run-table.js';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { whyNoKubectl } from '../harness/clients/kubectl.js';

const CASES = join(dirname(fileURLToPath(import.meta.url)), '../conformance/cases/scenarios.json');

test('every scenario ends as in Kubernetes', async (context) => {
  const why = whyNoKubectl();
  if (why !== undefined) return leaveOut(context, 'scenarios', why);
  const { total, failed } = await runTable(CASES);
  assert.deepEqual(failed, []);
  assert.ok(total > 0);
});
