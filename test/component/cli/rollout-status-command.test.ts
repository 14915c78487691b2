/** The response to `kubectl rollout status` about a failed rollout by waves, which other clients do not get. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { daemonSetKind, rolloutKind } from '../../../coordinator/kinds/index.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { openWatch } from '../../harness/api/watch-lines.js';
import { failedStatus, writeStatuses } from '../../harness/controllers/failed-rollout.js';
import { daemonSetObject } from '../../harness/objects/object-builders.js';

const PATH = '/apis/apps/v1/namespaces/default/daemonsets';
const REF = { namespace: 'default', name: 'web' };
const COMMAND = { 'kubectl-command': 'kubectl rollout status' };
const FAILURE =
  'the rollout of daemon set "web" failed and was rolled back; for the cause: everynode rollout status -n default ds/web';

let api: TestApi;
before(async () => {
  api = await startTestApi();
  await api.registry.create(daemonSetKind, 'default', daemonSetObject('web'));
  await api.registry.create(rolloutKind, 'default', { metadata: { name: 'web' } });
});
after(() => api.stop());
beforeEach(() => writeStatuses(api.registry, REF, { phase: 'Progressing' }));

const watchPath = (query: string) => `${PATH}?watch=true&fieldSelector=metadata.name%3Dweb${query}`;

async function revision(): Promise<string> {
  const { resourceVersion = '' } = (await api.registry.get(daemonSetKind, REF)).object().metadata;
  return resourceVersion;
}

test('its first request is rejected with the failure, other commands are not', async () => {
  await writeStatuses(api.registry, REF, failedStatus('RolledBack'));
  const refused = await call(api, `GET ${PATH}/web`, { headers: COMMAND });
  assert.deepEqual([refused.code, refused.json<{ message: string }>().message], [409, FAILURE]);
  const others: Record<string, string>[] = [{}, { 'kubectl-command': 'kubectl get' }];
  for (const headers of others) {
    assert.equal((await call(api, `GET ${PATH}/web`, { headers })).code, 200);
  }
});

test('a rollout that stopped without a rollback has failed too', async () => {
  await writeStatuses(api.registry, REF, failedStatus('Failed'));
  const refused = await call(api, `GET ${PATH}/web`, { headers: COMMAND });
  const { message } = refused.json<{ message: string }>();
  assert.deepEqual([refused.code, message], [409, FAILURE.replace(' and was rolled back', '')]);
});

for (const [what, status] of [
  ['goes on', { phase: 'Progressing' as const }],
  ['was completed', { phase: 'Completed' as const, endTime: '2026-01-01T00:00:00Z' }],
  ['has hosts that are still reverting', { ...failedStatus('Failed'), codes: { RollingBack: 1 } }],
] as const) {
  test(`one that ${what} is answered normally`, async () => {
    await writeStatuses(api.registry, REF, status);
    assert.equal((await call(api, `GET ${PATH}/web`, { headers: COMMAND })).code, 200);
  });
}

test('a rollout whose newest template the controller has not seen is answered normally too', async () => {
  await writeStatuses(api.registry, REF, failedStatus('RolledBack'), { isObserved: false });
  assert.equal((await call(api, `GET ${PATH}/web`, { headers: COMMAND })).code, 200);
});

for (const [how, query] of [
  [
    'that starts with initial events',
    '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  ],
  ['from revision 0', '&resourceVersion=0'],
] as const) {
  test(`a watch ${how} shows the object, then its removal, below a warning`, async () => {
    await writeStatuses(api.registry, REF, failedStatus('RolledBack'));
    const watch = await openWatch(api, watchPath(query), { headers: COMMAND });
    assert.match(watch.warning ?? '', /the rollout of daemon set .*failed and was rolled back/);
    const types: string[] = [];
    for (let line = await watch.next(); line; line = await watch.next()) types.push(line.type);
    assert.deepEqual(
      types.filter((type) => type !== 'BOOKMARK'),
      ['ADDED', 'DELETED'],
    );
    assert.equal(types.at(-1), 'DELETED');
  });
}

test('a watch ends when the rollout fails, and the next one says why', async () => {
  const first = await openWatch(api, watchPath(`&resourceVersion=${await revision()}`), { headers: COMMAND });
  assert.equal(first.warning, undefined);
  await writeStatuses(api.registry, REF, failedStatus('RolledBack'));
  while (await first.next());
  assert.equal(first.wasCut(), false);
  const next = await openWatch(api, watchPath(`&resourceVersion=${await revision()}`), { headers: COMMAND });
  assert.match(next.warning ?? '', /failed and was rolled back/);
  assert.equal((await next.next())?.type, 'DELETED');
  assert.equal(await next.next(), undefined);
});

test('watches of other clients continue', async () => {
  const other = await openWatch(api, watchPath(`&resourceVersion=${await revision()}`));
  await writeStatuses(api.registry, REF, failedStatus('RolledBack'));
  await writeStatuses(api.registry, REF, failedStatus('RolledBack'), { isObserved: false });
  assert.equal(other.warning, undefined);
  assert.equal((await other.next())?.type, 'MODIFIED');
  other.close();
});
