/** Which tests `npm run test:unit -- PATH` and `npm run mutation` run for a path. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relatedTests } from '../../harness/processes/related-tests.js';

const foldersOf = (path: string) => [
  ...new Set(relatedTests(path)?.map((file) => file.split('/').slice(0, 2).join('/'))),
];

const CASES: [rule: string, path: string, folders: string[]][] = [
  ['a capability has its unit and its component tests', 'rollouts', ['unit/rollouts', 'component/rollouts']],
  ['a test folder has the tests below it', 'test/unit/rollouts', ['unit/rollouts']],
  ['a file of the console has the tests of the whole console', 'console/rollouts', ['unit/console']],
];

for (const [rule, path, folders] of CASES) test(rule, () => assert.deepEqual(foldersOf(path), folders));

test('a source file has the tests of its innermost capability and the tests that import it', () => {
  const tests = relatedTests('coordinator/decisions/nodes/token-bucket.ts') ?? [];
  assert.ok(tests.includes('unit/nodes/zone-health.test.js'));
  assert.ok(tests.includes('component/nodes/scheduler.test.js'));
  const importers = relatedTests('agent/runtime/docker/docker-exec.ts') ?? [];
  assert.ok(importers.includes('unit/runtime/docker-exec.test.js'));
});

test('a test file is its own test', () =>
  assert.deepEqual(relatedTests('test/unit/nodes/zone-health.test.ts'), ['unit/nodes/zone-health.test.js']));

test('a path that does not exist has no tests, and is not mistaken for one without tests', () => {
  assert.equal(relatedTests('no-such-capability'), undefined);
  assert.equal(relatedTests('agent/no-such-file.ts'), undefined);
});
