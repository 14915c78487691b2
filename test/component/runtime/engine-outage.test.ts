/** An outage of the container engine: every message names the engine and its address, and the log has one line for it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { demoteOutageErrors, logEngineChange } from '../../../agent/assembly/engine-outage-log.js';
import { DockerApi } from '../../../agent/runtime/docker/docker-api.js';
import { dockerEvents } from '../../../agent/runtime/docker/docker-events.js';
import { RuntimeError } from '../../../agent/runtime/runtime-driver.js';
import { createFileLogger, type Logger } from '../../../shared/process/output/logger.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const REFUSALS = { fallback: 'EngineDown' };
const INFO = { method: 'GET', path: '/info' } as const;

/** Starts an engine that handles requests with `answer`. Resolves with the path of its socket. */
async function engineAt(context: TestContext, answer: RequestListener): Promise<string> {
  const socketPath = join(temporaryDirectory(), 'engine.sock');
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return socketPath;
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof RuntimeError);
  assert.equal(error.reason, 'EngineDown');
  return error.message;
}

test('an engine whose socket does not exist is named with the socket and a remedy', async () => {
  const api = new DockerApi({ socketPath: '/nonexistent/engine.sock' }, '1.41', 'podman');
  assert.equal(
    await messageOf(api.json(INFO, REFUSALS)),
    'podman at /nonexistent/engine.sock does not respond: the socket does not exist (start the engine)',
  );
});

test('an engine that closes the connection is named with its socket', async (context) => {
  const socketPath = await engineAt(context, (request) => request.socket.destroy());
  const api = new DockerApi({ socketPath }, '1.41', 'docker');
  const expected = `docker at ${socketPath} does not respond: the engine closed the connection`;
  assert.equal(await messageOf(api.json(INFO, REFUSALS)), expected);
});

test('an engine that answers 500 is named with its socket and its own message', async (context) => {
  const socketPath = await engineAt(context, (_request, response) => {
    response.writeHead(500).end('{"message":"storage is broken"}');
  });
  const api = new DockerApi({ socketPath }, '1.41', 'docker');
  const expected = `docker at ${socketPath} responds with an error: storage is broken`;
  assert.equal(await messageOf(api.json(INFO, REFUSALS)), expected);
});

test('an engine that ends its event stream is named with its socket', async (context) => {
  const socketPath = await engineAt(context, (_request, response) => void response.end());
  const api = new DockerApi({ socketPath }, '1.41', 'docker');
  const abort = new AbortController();
  const events = dockerEvents(api, { clusterUID: 'c', nodeName: 'n' }, abort.signal);
  assert.deepEqual((await events.next()).value, { kind: 'resync' });
  assert.deepEqual((await events.next()).value, {
    kind: 'down',
    message: `docker at ${socketPath} closed its event stream`,
  });
  abort.abort();
  await events.return(undefined);
});

test('an engine that aborts its event stream is named with its socket', async (context) => {
  const socketPath = await engineAt(context, (request, response) => {
    response.flushHeaders();
    setImmediate(() => request.socket.destroy());
  });
  const abort = new AbortController();
  const api = new DockerApi({ socketPath }, '1.41', 'podman');
  const events = dockerEvents(api, { clusterUID: 'c', nodeName: 'n' }, abort.signal);
  assert.deepEqual((await events.next()).value, { kind: 'resync' });
  const message = `podman at ${socketPath} does not respond: the engine closed the connection`;
  assert.deepEqual((await events.next()).value, { kind: 'down', message });
  abort.abort();
  await events.return(undefined);
});

/** Level and text of the lines that `work` logs, without debug lines. */
function logged(work: (log: Logger) => void): { level: string; msg: string; reason?: string }[] {
  const path = join(temporaryDirectory(), 'log');
  work(createFileLogger(path));
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as { level: string; msg: string; reason?: string });
}

test('components that fail because of the outage log at most at debug level, other errors as before', () => {
  const outage = new RuntimeError('EngineDown', 'docker at /x does not answer', true);
  const lines = logged((log) => {
    const quiet = demoteOutageErrors(log).child({ component: 'images' });
    quiet.warn({ err: outage }, 'images not collected');
    quiet.error({ err: outage }, 'pressure not measured');
    quiet.warn({ reason: 'EngineDown', message: outage.message }, 'image not pulled ahead');
    quiet.warn({ err: new RuntimeError('Conflict', 'in use', false) }, 'image not removed');
    quiet.error('alone');
  });
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['image not removed', 'alone'],
  );
});

test('the loss of the engine is one error line with its reason, its return one line with its version', () => {
  const lines = logged((log) => {
    logEngineChange({ kind: 'down', message: 'docker at /x closed its event stream' }, log);
    logEngineChange({ kind: 'up', info: { name: 'docker', version: '20.10.24' } }, log);
  });
  assert.deepEqual(
    lines.map(({ level, reason, msg }) => [level, reason, msg]),
    [
      [
        'error',
        'docker at /x closed its event stream',
        'the container engine is down; retrying until it answers',
      ],
      ['info', undefined, 'the container engine answers again'],
    ],
  );
});
