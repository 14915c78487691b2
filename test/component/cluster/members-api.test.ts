/** The API of the members, and how the command line prints them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coordinatorLines } from '../../../coordinator/cli/terminal/coordinator-lines.js';
import { statusKey } from '../../../coordinator/cluster/cluster-member.js';
import { registerMember } from '../../../coordinator/cluster/cluster-view.js';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { startTestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { until } from '../../harness/basics/wait-until.js';
import { startClusterFixture } from '../../harness/cluster/coordinator-data.js';

const COORDINATORS = '/apis/fleet.everynode.dev/v1/coordinators';

/** Time for which the API may answer from memory. */
const FRESH_MS = 1_100;

test('the API removes followers, and keeps the last coordinator that can lead', async (context) => {
  const fixture = await startClusterFixture(context);
  const { api, member, openStorage } = fixture;
  const storage = openStorage(member);
  context.after(() => storage.close());
  const status = { version: '1', logFormat: 1, appliedRecord: 0, clockMs: Date.now() };
  const put = (id: string, state: object) =>
    storage.put(statusKey(id), Buffer.from(JSON.stringify({ ...status, state })));
  await put(member.memberId, { role: 'leader', term: 1 });
  await registerMember(storage, { id: 'ffffffff', name: 'second', server: 'https://second:1', joinedAt: 0 });
  const { items } = (await call(api, `GET ${COORDINATORS}`)).json() as { items: Coordinator[] };
  assert.deepEqual(
    items.map((each) => [each.metadata.name, each.status.role]),
    [
      ['first', 'Leader'],
      ['second', 'Down'],
    ],
  );
  const refused = await call(api, `POST ${COORDINATORS}/first/stepdown`);
  assert.match(refused.text, /must stay the leader: no other coordinator is a follower/);
  await put('ffffffff', { role: 'follower' });
  assert.equal((await call(api, `POST ${COORDINATORS}/second/stepdown`)).code, 409);
  assert.equal(fixture.stepDowns(), 0);
  assert.equal((await call(api, `POST ${COORDINATORS}/first/stepdown`)).code, 200);
  assert.equal(fixture.stepDowns(), 1);
  assert.match((await call(api, `DELETE ${COORDINATORS}/first`)).text, /leads and cannot be removed/);
  assert.equal((await call(api, `DELETE ${COORDINATORS}/second`)).code, 200);
  assert.deepEqual(
    (await fixture.members()).map((each) => each.member.name),
    ['first'],
  );
  const isGone = async () => (await call(api, `DELETE ${COORDINATORS}/second`)).code === 404;
  await until(isGone, { what: 'the API to read the members again', timeoutMs: 10 * FRESH_MS });
});

test('a single coordinator admits none, and says why', async (context) => {
  const api = await startTestApi();
  context.after(() => api.stop());
  for (const line of [
    'POST /apis/fleet.everynode.dev/v1/coordinatortokens',
    'POST /coordinators/join',
    'GET /coordinators/snapshot',
  ]) {
    const answer = await call(api, line);
    assert.equal(answer.code, 404, line);
    assert.match(answer.text, /single coordinator/, line);
  }
});

const ROW: Coordinator = {
  ...{ kind: 'Coordinator', apiVersion: 'fleet.everynode.dev/v1' },
  metadata: { name: 'first', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { server: 'https://first:6443', memberId: '0a1b2c3d' },
  status: { role: 'Leader', version: '1', lagRecords: 0, clockSkewSeconds: 0, problems: [], conditions: [] },
};

test('members are printed with their etcd and what is wrong', () => {
  const message = 'second is down.';
  const problems = [{ severity: 'error', reason: 'Down', message }] as const;
  const etcd = [
    { endpoint: 'https://e1:2379', version: '3.5.9', isLeader: true, dbBytes: 1 },
    { endpoint: 'https://e2:2379', error: 'connection refused' },
  ];
  const second: Coordinator = {
    ...{ kind: 'Coordinator', apiVersion: ROW.apiVersion, metadata: { name: 'second' } },
    spec: { server: 'https://second:6443', memberId: 'ffffffff' },
    status: { role: 'Down', problems, conditions: [] },
  };
  assert.deepEqual(coordinatorLines([{ ...ROW, status: { ...ROW.status, etcd } }, second]), [
    'NAME    ID        SERVER               ROLE    LAG  VERSION',
    'first   0a1b2c3d  https://first:6443   Leader  0    1',
    'second  ffffffff  https://second:6443  Down    -    -',
    '',
    'ETCD             STATE   VERSION  SIZE',
    'https://e1:2379  leader  3.5.9    1 MiB',
    'https://e2:2379  error   -        -',
    '',
    'error: second: second is down.',
  ]);
  assert.equal(coordinatorLines([ROW]).at(-1), 'No problems.');
});
