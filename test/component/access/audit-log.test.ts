/** The audit log: its content, its omissions, and its size limits. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { AuditFile, readAudit } from '../../../coordinator/api/audit/audit-file.js';
import { type AuditEvent, CHANGES_ANNOTATION } from '../../../shared/kube/access/audit-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { type AccessFixture, startAccessFixture } from '../../harness/api/access-fixture.js';
import { TEST_TOKEN } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { untilPasses } from '../../harness/basics/wait-until.js';

const SECRETS = '/api/v1/namespaces/default/secrets';
const LIST = '/apis/fleet.everynode.dev/v1/auditevents';

interface Audited {
  fixture: AccessFixture;
  path: string;
  /** Resolves when `count` events match the query. */
  events(query: string, count: number): Promise<AuditEvent[]>;
}

async function audited(context: TestContext): Promise<Audited> {
  const path = join(temporaryDirectory(), 'audit', 'audit.log');
  const audit = new AuditFile({ path, maxBytes: 1e9, maxFiles: 1 }, silentLogger);
  const fixture = await startAccessFixture({ audit });
  context.after(() => fixture.stop());
  const events = async (query: string, count: number) => {
    let items: AuditEvent[] = [];
    await untilPasses(async () => {
      items = (await call(fixture.api, `GET ${LIST}?${query}`)).json<{ items: AuditEvent[] }>().items;
      assert.equal(items.length, count, JSON.stringify(items));
    }, 5_000);
    return items;
  };
  return { fixture, path, events };
}

test('records who wrote what, from where, and with what result; no value, no token, no query', async (context) => {
  const { fixture, path, events } = await audited(context);
  const body = { metadata: { name: 'db' }, stringData: { word: 'very-secret-word' } };
  await call(fixture.api, `POST ${SECRETS}?fieldManager=query-word`, {
    body,
    headers: { 'user-agent': 'test/1' },
  });
  await call(fixture.api, `GET ${SECRETS}/db`);
  await call(fixture.api, 'GET /api/v1/namespaces/default/pods');
  await call(fixture.api, `GET ${SECRETS}/db`, { token: 'wrong-token-word' });
  const [made] = await events('verb=create', 1);
  assert.ok(made);
  const { auditID, requestReceivedTimestamp, stageTimestamp, ...rest } = made;
  assert.ok(auditID && Date.parse(requestReceivedTimestamp) <= Date.parse(stageTimestamp));
  assert.deepEqual(rest, {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    stage: 'ResponseComplete',
    requestURI: SECRETS,
    verb: 'create',
    user: { username: 'everynode-admin', groups: ['system:masters', 'system:authenticated'] },
    sourceIPs: ['127.0.0.1'],
    userAgent: 'test/1',
    objectRef: { resource: 'secrets', namespace: 'default', name: 'db', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 201 },
    annotations: {
      ...{ 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
      [CHANGES_ANNOTATION]: JSON.stringify({
        fields: [
          { path: 'type', after: '(not recorded)' },
          { path: 'data.word', after: '(not recorded)' },
        ],
        omitted: 0,
      }),
    },
  });
  assert.equal((await events('verb=get&resource=secrets&code=200', 1))[0]?.objectRef?.name, 'db');
  assert.equal((await events('code=4xx', 1))[0]?.responseStatus.reason, 'Unauthorized');
  await events('resource=pods', 0);
  assert.equal((await events('changes=true', 1))[0]?.verb, 'create', 'without reads and refusals');
  await events(`until=${requestReceivedTimestamp}&verb=create`, 0);
  await events(`since=${requestReceivedTimestamp}&verb=create`, 1);
  const text = readFileSync(path, 'utf8');
  for (const word of ['very-secret-word', 'query-word', 'wrong-token-word', TEST_TOKEN]) {
    assert.ok(!text.includes(word), word);
  }
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('records the changed fields of a write for readers who may get the object; a dry run is no change', async (context) => {
  const { fixture, events } = await audited(context);
  const path = '/api/v1/namespaces/default/configmaps';
  await call(fixture.api, `POST ${path}`, { body: { metadata: { name: 'shop' }, data: { tax: '19' } } });
  const merge = { 'content-type': 'application/merge-patch+json' };
  const write = (query: string, tax: string) =>
    call(fixture.api, `PATCH ${path}/shop${query}`, { body: { data: { tax } }, headers: merge });
  await write('?dryRun=All', '20');
  await write('', '21');
  const query = 'changes=true&verb=patch';
  const [changed] = await events(query, 1);
  const recorded = (event: AuditEvent | undefined): unknown =>
    JSON.parse(event?.annotations?.[CHANGES_ANNOTATION] ?? 'null');
  assert.deepEqual(recorded(changed), {
    fields: [{ path: 'data.tax', before: '19', after: '21' }],
    omitted: 0,
  });
  const [made] = await events('changes=true&verb=create&resource=configmaps', 1);
  assert.deepEqual(recorded(made), { fields: [{ path: 'data.tax', after: '19' }], omitted: 0 });
  const auditor = fixture.admit({ username: 'kim', groups: ['auditors'] });
  const rule = { apiGroups: ['fleet.everynode.dev'], resources: ['auditevents'], verbs: ['list'] };
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  await call(fixture.api, `POST ${rbac}/clusterroles`, {
    body: { metadata: { name: 'audit' }, rules: [rule] },
  });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'audit' };
  const subjects = [{ kind: 'User', name: 'kim', apiGroup: 'rbac.authorization.k8s.io' }];
  const binding = { metadata: { name: 'audit' }, roleRef, subjects };
  await call(fixture.api, `POST ${rbac}/clusterrolebindings`, { body: binding });
  await untilPasses(async () => {
    const answer = await call(fixture.api, `GET ${LIST}?${query}`, { token: auditor });
    assert.equal(answer.code, 200);
    const [seen] = answer.json<{ items: AuditEvent[] }>().items;
    assert.equal(seen?.objectRef?.name, 'shop');
    assert.equal(recorded(seen), null, 'an auditor without the right to get ConfigMaps sees no values');
  }, 5_000);
});

test('marks rejections; impersonation is recorded with both names', async (context) => {
  const { fixture, events } = await audited(context);
  const ann = fixture.admit({ username: 'ann', groups: ['system:authenticated'] });
  await call(fixture.api, 'GET /api/v1/nodes', { token: ann });
  const [refused] = await events('user=ann', 1);
  assert.equal(refused?.annotations?.['authorization.k8s.io/decision'], 'forbid');
  assert.equal(refused?.verb, 'list');
  await call(fixture.api, 'GET /api/v1/nodes', { token: ann, headers: { 'impersonate-user': 'root' } });
  assert.equal((await events('user=ann', 2))[1]?.responseStatus.code, 403);
  await call(fixture.api, 'GET /api/v1/nodes', { headers: { 'impersonate-user': 'kim' } });
  const [acted] = await events('user=kim', 1);
  assert.deepEqual([acted?.user.username, acted?.impersonatedUser?.username], ['everynode-admin', 'kim']);
});

test('records a write to a cluster-scoped resource below a namespace as not found, and as allowed by no role', async (context) => {
  const { fixture, events } = await audited(context);
  await call(fixture.api, 'POST /apis/fleet.everynode.dev/v1/namespaces/default/restore');
  const [refused] = await events('resource=restore', 1);
  assert.deepEqual(
    [refused?.responseStatus.code, refused?.objectRef?.namespace, refused?.annotations],
    [404, 'default', undefined],
  );
});

test('records the user who is denied a command in a container', async (context) => {
  const { fixture, events } = await audited(context);
  const token = fixture.admit({ username: 'ann', groups: ['system:authenticated'] });
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'v5.channel.k8s.io',
  };
  const path = '/api/v1/namespaces/default/pods/p/exec?command=id&stdout=true';
  assert.equal((await call(fixture.api, `GET ${path}`, { token, headers })).code, 403);
  const [refused] = await events('user=ann', 1);
  assert.deepEqual([refused?.objectRef?.subresource, refused?.responseStatus.code], ['exec', 403]);
});

test('can be read with permission only, and a wrong query is rejected', async (context) => {
  const { fixture } = await audited(context);
  const ann = fixture.admit({ username: 'ann', groups: ['system:authenticated'] });
  assert.equal((await call(fixture.api, `GET ${LIST}`, { token: ann })).code, 403);
  for (const query of ['who=ann', 'since=yesterday', 'until=now', 'changes=yes', 'limit=0']) {
    assert.equal((await call(fixture.api, `GET ${LIST}?${query}`)).code, 400, query);
  }
});

describe('the file', () => {
  const event = (name: string) => ({ auditID: name, kind: 'Event' }) as unknown as AuditEvent;
  const names = async (path: string) => {
    const found: string[] = [];
    for await (const { auditID } of readAudit(path)) found.push(auditID);
    return found;
  };

  test('starts a new file when it is full, and the oldest is deleted', async () => {
    const path = join(temporaryDirectory(), 'audit.log');
    const file = new AuditFile({ path, maxBytes: 80, maxFiles: 2 }, silentLogger);
    for (let number = 0; number < 9; number++) {
      file.record(event(`event-${number}`));
      await file.flush();
    }
    assert.deepEqual(readdirSync(join(path, '..')).sort(), ['audit.log', 'audit.log.1', 'audit.log.2']);
    assert.deepEqual(await names(path), ['event-4', 'event-5', 'event-6', 'event-7', 'event-8']);
  });

  test('keeps earlier files, and skips an incomplete line only', async () => {
    const path = join(temporaryDirectory(), 'audit.log');
    writeFileSync(path, '{"auditID":"a"}\n{"auditID":"b"', { mode: 0o600 });
    const file = new AuditFile({ path, maxBytes: 1e6, maxFiles: 2 }, silentLogger);
    file.record(event('c'));
    file.record(event('d'));
    await file.flush();
    assert.deepEqual(await names(path), ['a', 'c', 'd']);
  });

  test('does not block requests when it cannot be written', async () => {
    const file = new AuditFile({ path: '/proc/none/audit.log', maxBytes: 1e6, maxFiles: 2 }, silentLogger);
    file.record(event('a'));
    await file.flush();
  });
});
