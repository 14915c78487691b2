/** Probes and hooks against real servers, with upstream's messages. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ContainerProbeHandlers } from '../../../agent/probes/probe-handlers.js';
import type { ProbeTarget } from '../../../agent/probes/probe-target.js';
import { HollowDriver } from '../../../agent/runtime/hollow/hollow-driver.js';
import { HollowEngine } from '../../../agent/runtime/hollow/hollow-engine.js';
import { loadPki } from '../../../coordinator/pki/load-pki.js';
import type { Handler } from '../../../shared/kube/pods/probe-types.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { type HealthServer, NOT_SERVING, startHealthServer } from '../../harness/pods/health-server.js';
import { FIXTURE_OWNER } from '../../harness/pods/pod-host-fixture.js';

const handlers = new ContainerProbeHandlers(
  new HollowDriver(new HollowEngine({ clock: systemClock }), FIXTURE_OWNER),
  systemClock,
);

/** The container is reached at 127.0.0.1. `web` is the name of its port. */
function target(port = 0): ProbeTarget {
  const ports = [{ name: 'web', containerPort: port }];
  return { id: 'c', container: { name: 'app', image: 'app', ports }, podIP: '127.0.0.1' };
}

const probe = (handler: Handler, port = 0) => handlers.probe({ ...handler, timeoutSeconds: 1 }, target(port));

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Answers by path, and keeps the last request. */
const site: RequestListener = (request, response) => {
  const [, kind = '', rest = ''] = (request.url ?? '').split('/');
  if (kind === 'status') response.statusCode = Number(rest);
  if (kind === 'redirect') response.writeHead(302, { location: decodeURIComponent(rest) });
  if (kind === 'silence') return;
  if (kind === 'headers') response.statusCode = request.headers['x-wanted'] === 'yes' ? 200 : 400;
  if (kind === 'host') response.statusCode = request.headers.host === 'shop.example' ? 200 : 400;
  if (kind === 'agent')
    response.statusCode = request.headers['user-agent']?.startsWith('kube-probe/') ? 200 : 400;
  response.end('body');
};

describe('httpGet', () => {
  const server = createServer(site);
  let port = 0;
  before(async () => {
    port = await listening(server);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const get = (path: string, more: object = {}) => probe({ httpGet: { path, port, ...more } });
  const SUCCESS = { kind: 'success' };
  const failed = (message: string) => ({ kind: 'failure', message });

  test('2xx and 3xx are successes', async () => {
    for (const status of [200, 204, 304, 399]) assert.deepEqual(await get(`/status/${status}`), SUCCESS);
  });
  test('other status codes are failures', async () => {
    for (const status of [400, 404, 500, 503]) {
      assert.deepEqual(
        await get(`/status/${status}`),
        failed(`HTTP probe failed with statuscode: ${status}`),
      );
    }
  });
  test("headers are sent, including Host and the prober's User-Agent", async () => {
    const wanted = { httpHeaders: [{ name: 'X-Wanted', value: 'yes' }] };
    assert.deepEqual(await get('/headers', wanted), SUCCESS);
    assert.deepEqual(await get('/host', { httpHeaders: [{ name: 'Host', value: 'shop.example' }] }), SUCCESS);
    assert.deepEqual(await get('/agent'), SUCCESS);
  });
  test('a redirect is followed on the same host, and is a warning elsewhere', async () => {
    assert.deepEqual(await get('/redirect/%2Fstatus%2F200'), SUCCESS);
    assert.deepEqual(
      await get('/redirect/%2Fstatus%2F500'),
      failed('HTTP probe failed with statuscode: 500'),
    );
    assert.equal((await get('/redirect/http%3A%2F%2Fother.example%2F')).kind, 'warning');
  });
  test('a redirect loop ends', async () => {
    const message = `Get "http://127.0.0.1:${port}/redirect/ring": stopped after 10 redirects`;
    const ring = createServer((_, response) => response.writeHead(302, { location: '/redirect/ring' }).end());
    const ringPort = await listening(ring);
    const result = await probe({ httpGet: { path: '/', port: ringPort } });
    assert.deepEqual(result, failed(message.replace(String(port), String(ringPort))));
    ring.closeAllConnections();
    ring.close();
  });
  test('the port may be a name, and the host another one', async () => {
    assert.deepEqual(await probe({ httpGet: { path: '/', port: 'web' } }, port), SUCCESS);
    assert.deepEqual(await get('/', { host: 'localhost' }), SUCCESS);
  });
  test("an unknown port name is an error, which does not change the container's result", async () => {
    assert.deepEqual(await probe({ httpGet: { port: 'no' } }), {
      kind: 'error',
      message: 'port no not found',
    });
  });
  test('nobody listens', async () => {
    const free = await freePort();
    assert.deepEqual(
      await probe({ httpGet: { path: '/', port: free } }),
      failed(`Get "http://127.0.0.1:${free}/": dial tcp 127.0.0.1:${free}: connect: connection refused`),
    );
  });
  test('no answer in time is a failure', async () => {
    const why = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
    assert.deepEqual(await get('/silence'), failed(`Get "http://127.0.0.1:${port}/silence": ${why}`));
  });
  test('https is accepted with any certificate', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everynode-probe-'));
    const { serving } = await loadPki(folder, ['elsewhere.example'], Date.now());
    const secure = createTlsServer({ key: serving.key, cert: serving.cert }, site);
    const securePort = await listening(secure as unknown as Server);
    assert.deepEqual(await probe({ httpGet: { path: '/', port: securePort, scheme: 'HTTPS' } }), SUCCESS);
    secure.closeAllConnections();
    secure.close();
    rmSync(folder, { recursive: true });
  });
  test('for a hook any response is a success', async () => {
    await handlers.runHook({ httpGet: { path: '/status/500', port } }, target(), 1000);
    const free = await freePort();
    const hook = handlers.runHook({ httpGet: { path: '/', port: free } }, target(), 1000);
    await assert.rejects(hook, /connection refused/);
  });
});

describe('tcpSocket', () => {
  test('an open connection is a success, a refused one is not', async () => {
    const server = createServer();
    const port = await listening(server);
    assert.deepEqual(await probe({ tcpSocket: { port } }), { kind: 'success' });
    server.close();
    await once(server, 'close');
    assert.deepEqual(await probe({ tcpSocket: { port } }), {
      kind: 'failure',
      message: `dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });
});

describe('grpc', () => {
  let server: HealthServer;
  before(async () => {
    server = await startHealthServer();
  });
  after(() => server.close());
  const check = (service?: string) => probe({ grpc: { port: server.port, ...(service ? { service } : {}) } });

  test('SERVING is a success, for each service by its name', async () => {
    server.answer = (service) => ({ status: service === 'bad' ? NOT_SERVING : 1 });
    assert.deepEqual(await check(), { kind: 'success' });
    assert.deepEqual(await check('good'), { kind: 'success' });
    assert.deepEqual(await check('bad'), {
      kind: 'failure',
      message: 'service unhealthy (responded with "NOT_SERVING")',
    });
  });
  for (const [it, answer, message] of [
    [
      'a server without health',
      { code: 12, message: 'unknown method' },
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown method',
    ],
    [
      'a service that it does not know',
      { code: 5, message: 'unknown%20service' },
      'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service',
    ],
    ['no answer in time', 'silence', 'timeout: health rpc did not complete within 1s'],
  ] as const) {
    test(it, async () => {
      server.answer = () => answer;
      assert.deepEqual(await check(), { kind: 'failure', message });
    });
  }
  test('nobody listens', async () => {
    const port = await freePort();
    const where = `127.0.0.1:${port}`;
    assert.deepEqual(await probe({ grpc: { port } }), {
      kind: 'failure',
      message: `error: failed to connect service at "${where}": dial tcp ${where}: connect: connection refused`,
    });
  });
});

describe('a sleep hook', () => {
  test('sleeps for its configured time, up to the deadline', async () => {
    const clock = new ManualClock();
    const sleeper = new ContainerProbeHandlers(
      new HollowDriver(new HollowEngine({ clock }), FIXTURE_OWNER),
      clock,
    );
    const slept = async (seconds: number, deadlineMs: number, endMs: number) => {
      let ended = false;
      const hook = sleeper.runHook({ sleep: { seconds } }, target(), deadlineMs).then(() => {
        ended = true;
      });
      clock.advance(endMs - 1);
      await clock.yieldToEventLoop();
      assert.equal(ended, false);
      clock.advance(1);
      await hook;
    };
    await slept(5, 60_000, 5000);
    await slept(60, 50, 50);
  });
});

test('a handler without an action is an error', async () => {
  assert.deepEqual(await probe({}), { kind: 'error', message: 'missing probe handler' });
});
