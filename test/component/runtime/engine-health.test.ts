/** A hanging engine closes no connection. Its outage and its return are still detected. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { DockerApi } from '../../../agent/runtime/docker/docker-api.js';
import { dockerEvents } from '../../../agent/runtime/docker/docker-events.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const OWNER = { clusterUID: 'c', nodeName: 'n' };
const PULSE = { intervalMs: 10, timeoutMs: 200 };

test('an engine that does not answer next to its event stream is down until it answers again', async () => {
  const socketPath = join(temporaryDirectory(), 'engine.sock');
  let hangs = false;
  const held = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    if (hangs) {
      held.add(response);
      return;
    }
    response.writeHead(200);
    if (request.url?.includes('/_ping')) response.end('OK');
    else response.flushHeaders();
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const api = new DockerApi({ socketPath });
  const abort = new AbortController();
  const events = dockerEvents(api, OWNER, abort.signal, PULSE);
  const next = async () => {
    const { value } = await events.next();
    return value?.kind === 'down' ? `down: ${value.message}` : value?.kind;
  };
  try {
    assert.equal(await next(), 'resync');
    hangs = true;
    assert.match((await next()) ?? '', /^down: the container engine at .*engine.sock hangs/);
    hangs = false;
    assert.equal(await next(), 'resync');
  } finally {
    abort.abort();
    await events.return(undefined);
    api.close();
    server.closeAllConnections();
    server.close();
  }
});
