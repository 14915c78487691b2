/** `rollout status` of an unmodified kubectl exits when a rollout by waves has failed. It used to wait forever. */
import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { daemonSetKind, rolloutKind } from '../../../coordinator/kinds/index.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { forEachKubectl } from '../../harness/clients/each-kubectl.js';
import { failedStatus, writeStatuses } from '../../harness/controllers/failed-rollout.js';
import { daemonSetObject } from '../../harness/objects/object-builders.js';

const REF = { namespace: 'default', name: 'web' };
const FAILURE =
  'the rollout of daemon set "web" failed and was rolled back; for the cause: everynode rollout status -n default ds/web';

forEachKubectl('rollout status', (fixture) => {
  before(async () => {
    await fixture.api.registry.create(daemonSetKind, 'default', daemonSetObject('web'));
    await fixture.api.registry.create(rolloutKind, 'default', { metadata: { name: 'web' } });
  });
  beforeEach(() => writeStatuses(fixture.api.registry, REF, { phase: 'Progressing' }));

  test('rollout status fails at once for a rolled back rollout, also with --watch=false', async () => {
    await writeStatuses(fixture.api.registry, REF, failedStatus('RolledBack'));
    for (const args of ['rollout status ds/web', 'rollout status ds/web --watch=false']) {
      const { code, stdout, stderr } = await fixture.kubectl.run(args.split(' '));
      assert.deepEqual([code, stdout], [1, '']);
      assert.equal(stderr, `Error from server (Conflict): ${FAILURE}\n`);
    }
    assert.match(await fixture.kubectl.ok('get ds web'), /^NAME +DESIRED/);
  });

  test('rollout status ends with an error and a warning when the rollout is rolled back meanwhile', async () => {
    const waiting = fixture.kubectl.start('rollout status ds/web');
    await untilPasses(() => assert.match(waiting.stdout, /0 out of 3 new pods have been updated/), 20_000);
    await writeStatuses(fixture.api.registry, REF, failedStatus('RolledBack'));
    assert.equal(await waiting.ended, 1);
    assert.equal(waiting.stderr, `Warning: ${FAILURE}\nerror: object has been deleted\n`);
  });

  test('rollout status keeps waiting for a rollout in progress', async () => {
    const { code, stderr } = await fixture.kubectl.run(['rollout', 'status', 'ds/web', '--timeout=3s']);
    assert.deepEqual([code, stderr], [1, 'error: timed out waiting for the condition\n']);
  });
});
