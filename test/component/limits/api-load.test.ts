/** The API under load and at shutdown: fair shares, a log line per request, and an orderly close. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { tokenAuthenticator, tokenHash } from '../../../coordinator/api/auth/token-authenticator.js';
import { type ApiSettings, DEFAULT_API_SETTINGS } from '../../../coordinator/api/http/api-context.js';
import { listResponse } from '../../../coordinator/api/resources/object-response.js';
import { ALL_KINDS, configMapKind } from '../../../coordinator/kinds/index.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import { recordOf } from '../../../coordinator/registry/encoding/object-record.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { createFileLogger, silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { startTestApi, TEST_TOKEN, type TestApi, testIdentities } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { rawConnection } from '../../harness/api/raw-connection.js';
import { openWatch } from '../../harness/api/watch-lines.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import { MemoryStore } from '../../harness/controllers/memory-store.js';

const VIEW = { form: 'object', metaVersion: 'v1', include: 'None', now: 0 } as const;
const MAPS = '/api/v1/namespaces/default/configmaps';

function withSettings(change: Partial<ApiSettings>): Promise<TestApi> {
  return startTestApi({ settings: { ...DEFAULT_API_SETTINGS, ...change } });
}

/** Returns the status codes of `count` sequential requests. */
async function codes(api: TestApi, count: number, token?: string): Promise<number[]> {
  const answers: number[] = [];
  for (let asked = 0; asked < count; asked += 1) {
    answers.push((await call(api, `GET ${MAPS}`, token === undefined ? {} : { token })).code);
  }
  return answers;
}

describe('limits of one client', () => {
  test('a client above its rate is 429 with Retry-After; health checks are not counted', async () => {
    const api = await withSettings({ clientLimits: { requestsPerSecond: 0.01, burst: 2 } });
    assert.deepEqual(await codes(api, 3), [200, 200, 429]);
    const refused = await call(api, `GET ${MAPS}`);
    assert.ok(Number(refused.headers['retry-after']) > 1);
    assert.equal(refused.json<{ reason: string }>().reason, 'TooManyRequests');
    assert.equal((await call(api, 'GET /healthz')).code, 200);
    await api.stop();
  });

  test('guessing tokens ends in 429 and does not affect the right token', async () => {
    const api = await withSettings({ clientLimits: { requestsPerSecond: 0.01, burst: 2 } });
    assert.deepEqual(await codes(api, 4, 'wrong'), [401, 401, 429, 429]);
    assert.deepEqual(await codes(api, 1), [200]);
    await api.stop();
  });
});

/** The response is not read, so it does not end. */
async function unreadList(api: TestApi, path: string, headers = '') {
  const { socket } = await rawConnection(
    api,
    `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}Authorization: Bearer ${TEST_TOKEN}\r\n\r\n`,
  );
  socket.pause();
  return socket;
}

describe('large lists', () => {
  const STORED = 40;
  const largeReads = { fromObjects: 10, maxConcurrent: 1, maxWaiting: 1, maxWaitMs: 60_000 };

  async function filled(change: Partial<typeof largeReads> = {}): Promise<TestApi> {
    const store = new MemoryStore();
    const registry = createRegistry({ store, kinds: ALL_KINDS, clock: systemClock, log: silentLogger });
    const ann = tokenAuthenticator(tokenHash('ann-token'), { username: 'ann', groups: ['system:masters'] });
    const api = await startTestApi({
      registry,
      identities: await testIdentities(registry, undefined, [ann]),
      settings: { ...DEFAULT_API_SETTINGS, largeReads: { ...largeReads, ...change } },
    });
    const data = { text: 'x'.repeat(500_000) };
    for (let index = 0; index < STORED; index += 1) {
      await api.registry.create(configMapKind, 'default', { metadata: { name: `m${index}` }, data });
    }
    return api;
  }

  test('one request above the concurrency limit waits, one above the queue is 429; small reads are never delayed', async () => {
    const api = await filled();
    const { list } = api.registry;
    let listed = 0;
    api.registry.list = (kind, request) => {
      if (request?.limit !== 1) listed += 1;
      return list(kind, request);
    };
    const running = await unreadList(api, MAPS);
    await until(() => listed === 1);
    const waiting = call(api, `GET ${MAPS}?labelSelector=none`);
    await delay(100);
    assert.equal(listed, 1);
    const refused = await call(api, `GET ${MAPS}`);
    assert.deepEqual([refused.code, refused.headers['retry-after']], [429, '2']);
    assert.match(refused.json<{ message: string }>().message, /list in pages/);
    for (const small of ['?limit=5', '/m1', '?fieldSelector=metadata.name%3Dm2', '/../secrets']) {
      assert.equal((await call(api, `GET ${MAPS}${small}`.replace('configmaps/../', ''))).code, 200, small);
    }
    running.destroy();
    assert.equal((await waiting).json<{ items: unknown[] }>().items.length, 0);
    await api.stop();
  });

  test('slow readers of one user, whomever they impersonate, leave a place for the large list of another user', async () => {
    const api = await filled({ maxConcurrent: 8, maxWaiting: 10, maxWaitMs: 3_000 });
    const { list } = api.registry;
    let listed = 0;
    api.registry.list = (kind, request) => {
      if (request?.limit !== 1) listed += 1;
      return list(kind, request);
    };
    const slow = Array.from({ length: 8 }, (_, index) =>
      unreadList(api, MAPS, `Impersonate-User: user-${index}\r\nImpersonate-Group: system:masters\r\n`),
    );
    const sockets = await Promise.all(slow);
    await until(() => listed >= 6);
    const other = await call(api, `GET ${MAPS}?labelSelector=none`, { token: 'ann-token' });
    for (const socket of sockets) socket.destroy();
    await api.stop();
    assert.equal(other.code, 200, other.text);
  });

  test('ten table pages of kubectl are sent as one, because kubectl waits between them; all other pages have the requested size', async () => {
    const api = await startTestApi();
    const names = Array.from({ length: 501 }, (_, index) => `m${index}`);
    await Promise.all(
      names.map((name) => api.registry.create(configMapKind, 'default', { metadata: { name } })),
    );
    const page = async (limit: number, accept: string) => {
      const answer = await call(api, `GET ${MAPS}?limit=${limit}`, { headers: { accept } });
      const { rows, items, metadata } = answer.json<{
        rows?: unknown[];
        items?: unknown[];
        metadata: { continue?: string };
      }>();
      return [(rows ?? items ?? []).length, metadata.continue !== undefined];
    };
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    assert.deepEqual(await page(500, table), [501, false]);
    assert.deepEqual(await page(499, table), [499, true]);
    assert.deepEqual(await page(500, 'application/json'), [500, true]);
    await api.stop();
  });

  test('a watch that starts with all objects keeps its place until they are sent', async () => {
    const api = await filled();
    const watch = await openWatch(api, `${MAPS}?watch=1`);
    const list = call(api, `GET ${MAPS}`);
    for (let index = 0; index < STORED; index += 1) assert.equal((await watch.next())?.type, 'ADDED');
    assert.equal((await list).json<{ items: unknown[] }>().items.length, STORED);
    await api.stop();
  });

  test('a list frees the objects that it has sent', async () => {
    const records = [1, 2, 3].map((revision) =>
      recordOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }, revision),
    );
    const answer = listResponse(configMapKind, { records, resourceVersion: '3' }, VIEW);
    assert.ok(answer.type === 'pieces');
    const text = [...answer.pieces].map((piece) => piece.toString()).join('');
    const versions = JSON.parse(text).items.map(({ metadata }: KubeObject) => metadata.resourceVersion);
    assert.deepEqual(versions, ['1', '2', '3']);
    assert.equal(records.length, 0);
  });
});

test('a response that takes too long is 504 Timeout', async () => {
  const api = await withSettings({ responseTimeoutMs: 30 });
  api.registry.get = () => new Promise(() => undefined);
  const answer = await call(api, `GET ${MAPS}/x`);
  assert.deepEqual([answer.code, answer.json<{ reason: string }>().reason], [504, 'Timeout']);
  await api.stop();
});

test('the request log: one line per request in a private file, without bodies and secrets', async () => {
  const path = join(temporaryDirectory(), 'audit', 'requests.log');
  const settings = { ...DEFAULT_API_SETTINGS, requestLog: 'changes' as const };
  const api = await startTestApi({ settings, requestLog: createFileLogger(path) });
  const body = { metadata: { name: 's' }, stringData: { a: 'hush-hush' } };
  await call(api, 'POST /api/v1/namespaces/default/secrets', { body });
  await call(api, 'GET /api/v1/namespaces/default/secrets/s');
  await call(api, `GET ${MAPS}`, { token: 'wrong-token' });
  await until(() => existsSync(path) && readFileSync(path, 'utf8').split('\n').length === 3);
  const text = readFileSync(path, 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ user, verb, resource, name, code }) => [user, verb, resource, name, code]),
    [
      ['everynode-admin', 'create', 'secrets', 's', 201],
      ['', 'list', 'configmaps', undefined, 401],
    ],
  );
  assert.doesNotMatch(text, /hush-hush|wrong-token|test-token/);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await api.stop();
});

describe('a stop', () => {
  test('ends a watch as at its timeout', async () => {
    const api = await startTestApi();
    const watch = await openWatch(api, `${MAPS}?watch=1`);
    await api.registry.create(configMapKind, 'default', { metadata: { name: 'last' } });
    assert.equal((await watch.next())?.object.metadata.name, 'last');
    const ended = watch.next();
    await api.stop();
    assert.equal(await ended, undefined);
    assert.equal(watch.wasCut(), false);
  });

  test('lets a response in progress finish, and rejects new requests so that clients retry', async () => {
    const api = await startTestApi();
    const list = api.registry.list;
    let go = (): void => undefined;
    const gate = new Promise<void>((open) => {
      go = open;
    });
    let isAsked = false;
    api.registry.list = async (kind, request) => {
      isAsked = true;
      await gate;
      return list(kind, request);
    };
    const answer = call(api, `GET ${MAPS}`);
    await until(() => isAsked);
    const stopped = api.stop();
    const late = await call(api, `GET ${MAPS}`);
    assert.deepEqual([late.code, late.headers['retry-after'], late.headers.connection], [503, '1', 'close']);
    go();
    assert.equal((await answer).code, 200);
    await stopped;
  });

  test('aborts requests that exceed the grace period', async () => {
    const api = await withSettings({ drainMs: 50 });
    let isAsked = false;
    api.registry.list = () => {
      isAsked = true;
      return new Promise(() => undefined);
    };
    const head = `GET ${MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TEST_TOKEN}\r\n\r\n`;
    const { closed } = await rawConnection(api, head);
    await until(() => isAsked);
    await api.stop();
    assert.equal(await closed, '');
  });

  test('does not wait for idle kept-alive connections', async () => {
    const api = await startTestApi();
    const head = `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`;
    const { socket, closed } = await rawConnection(api, head);
    await once(socket, 'data');
    await api.stop();
    assert.match(await closed, /200 OK/);
  });
});
