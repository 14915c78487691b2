/** The decision tables of test/conformance/cases, and the runner's rejection of unknown keys. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ConformanceCase } from '../../conformance/tables/conformance-table.js';
import { runTable } from '../../conformance/tables/run-table.js';
import { TABLES } from '../../conformance/tables/table-index.js';

const CASES = join(dirname(fileURLToPath(import.meta.url)), '../../conformance/cases');
const DECISION_TABLES = [
  'tolerations',
  'node-affinity',
  'daemon-eligibility',
  'rolling-update',
  'taint-eviction',
];

for (const name of DECISION_TABLES) {
  test(`${name}: every case is decided as upstream decides it`, async () => {
    const { failed, total } = await runTable(join(CASES, `${name}.json`));
    assert.deepEqual(failed, []);
    assert.ok(total > 0);
  });
}

async function runOne(table: string, testCase: ConformanceCase) {
  const open = await TABLES[table]?.open();
  assert.ok(open);
  return open.run(testCase);
}

const TOLERATED = { toleration: { operator: 'Exists' }, taint: { key: 'a', effect: 'NoSchedule' } };

test('a case with a wrong expectation fails', async () => {
  const verdict = await runOne('tolerations', { name: 'x', ...TOLERATED, expected: { tolerated: false } });
  assert.deepEqual(verdict, { passed: false, got: { tolerated: true } });
});

const UNKNOWN: Record<string, [string, ConformanceCase]> = {
  'key of the case': ['tolerations', { name: 'x', ...TOLERATED, hint: 1, expected: {} }],
  expectation: ['tolerations', { name: 'x', ...TOLERATED, expected: { why: 'a' } }],
  'key of a toleration': [
    'tolerations',
    { name: 'x', ...TOLERATED, toleration: { keys: 'a' }, expected: {} },
  ],
  kind: ['rolling-update', { name: 'x', kind: 'dance', expected: {} }],
  'action of a round': [
    'rolling-update',
    { name: 'x', kind: 'rounds', nodes: 1, rounds: [{ action: 'jump' }], expected: { perRound: true } },
  ],
  'key of a pod': [
    'rolling-update',
    {
      name: 'x',
      kind: 'sync',
      nodes: [{ name: 'n', pods: [{ name: 'p', revision: 'new', mood: 1 }] }],
      expected: {},
    },
  ],
};

for (const [what, [table, testCase]] of Object.entries(UNKNOWN)) {
  test(`an unknown ${what} makes the case fail`, async () => {
    await assert.rejects(runOne(table, testCase), /unknown|one of/);
  });
}
