/** After a restore, controllers are idle and writers are warned until an operator confirms. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RESTORE_PATH, type RestoreDocument } from '../../../coordinator/api/fleet/restore-resource.js';
import { startControllers } from '../../../coordinator/controllers/index.js';
import { daemonSetKind, podKind } from '../../../coordinator/kinds/index.js';
import { RestoreState } from '../../../coordinator/restore-state.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { startTestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { joinNode, withControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { MemoryStore } from '../../harness/controllers/memory-store.js';
import { daemonSet } from '../../harness/objects/daemon-builders.js';
import { podObject } from '../../harness/objects/object-builders.js';

const PAST = [{ epoch: 'before', revision: 7, takenAt: Date.parse('2026-01-31T03:17:00Z') }];

const restoredState = () => new RestoreState(new MemoryStore({ pastEpochs: PAST }), silentLogger);

withControlPlane('until the confirmation controllers create and delete nothing', async (plane) => {
  const restore = restoredState();
  const controllers = await startControllers({ ...plane, startAfter: restore.confirmed });
  await joinNode(plane, 'n1');
  const { apiVersion, kind, spec } = daemonSet('web');
  const web = { apiVersion, kind, metadata: { name: 'web' }, spec };
  await plane.registry.create(daemonSetKind, 'default', web);
  await plane.registry.create(podKind, 'default', podObject('lost', { nodeName: 'no-such-node' }));
  await plane.advance(60_000);
  const names = async () =>
    (await plane.registry.list(podKind)).records.map((record) => record.object().metadata.name);
  assert.deepEqual(await names(), ['lost']);
  await restore.confirm();
  await plane.settle();
  await plane.advance(60_000);
  const after = await names();
  assert.equal(after.length, 1);
  assert.match(String(after[0]), /^web-/);
  await controllers.stop();
});

test('writers get a warning until the confirmation, readers do not', async () => {
  const api = await startTestApi({ restore: restoredState() });
  const warningOf = async (name: string) => {
    const body = { metadata: { name } };
    return (await call(api, 'POST /api/v1/namespaces/default/configmaps', { body })).headers.warning;
  };
  try {
    assert.match(String(await warningOf('a')), /restored from a backup.*confirm-restore/);
    assert.equal((await call(api, 'GET /api/v1/namespaces')).headers.warning, undefined);
    const state = (await call(api, `GET ${RESTORE_PATH}`)).json<RestoreDocument>();
    assert.deepEqual([state.unconfirmed, state.backupTakenAt], [true, '2026-01-31T03:17:00.000Z']);
    const confirmed = (await call(api, `POST ${RESTORE_PATH}`, { body: {} })).json<RestoreDocument>();
    assert.equal(confirmed.unconfirmed, false);
    assert.equal(await warningOf('b'), undefined);
  } finally {
    await api.stop();
  }
});
