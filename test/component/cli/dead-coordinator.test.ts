/** A command whose coordinator's machine is dead ends after seconds and names the address. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

/** Listens, prints its port, and never accepts a connection. */
const BLOCKED = `
const server = require('node:net').createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  require('node:fs').writeSync(1, String(server.address().port));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

/** A command ends at the latest after this time. */
const LIMIT_MS = 25_000;

function kubeconfigFor(port: number): string {
  const path = join(temporaryDirectory(), 'kubeconfig');
  const cluster = { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true };
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'a' },
    clusters: [{ name: 'a', cluster }],
    users: [{ name: 'a', user: { token: 'a' } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

async function expectRefusal(port: number, sentence: RegExp): Promise<void> {
  const client = apiClientFromKubeconfig(kubeconfigFor(port));
  await assert.rejects(client.request('GET', '/api'), (error) => {
    assert.ok(error instanceof ExitError, String(error));
    assert.equal(error.code, EXIT_CODES.environment);
    assert.match(error.sentence, sentence);
    return true;
  });
}

test('a machine that does not answer ends a command after 5 s', { timeout: LIMIT_MS }, async (context) => {
  const child = spawn(process.execPath, ['-e', BLOCKED], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.after(() => child.kill('SIGKILL'));
  const [printed] = await once(child.stdout, 'data');
  const port = Number(printed);
  // Fill the backlog: Linux then drops further connections, as a dead machine does.
  const fillers: Socket[] = [];
  context.after(() => {
    for (const socket of fillers) socket.destroy();
  });
  for (let isFull = false; !isFull; ) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    fillers.push(socket);
    isFull = await Promise.race([
      once(socket, 'connect').then(() => false),
      new Promise<boolean>((resolve) => setTimeout(resolve, 1_000, true)),
    ]);
  }
  await expectRefusal(
    port,
    new RegExp(`https://127.0.0.1:${port} .*does not respond: no connection within 5 s`),
  );
});

test('a coordinator that accepts and hangs ends a command after 15 s', {
  timeout: LIMIT_MS,
}, async (context) => {
  const accepted: Socket[] = [];
  const server = createServer((socket) => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  context.after(() => {
    server.close();
    for (const socket of accepted) socket.destroy();
  });
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  await expectRefusal(address.port, /does not respond: no TLS connection within 15 s/);
});
