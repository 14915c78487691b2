/** A returning client resumes its TLS session, also with a coordinator that was killed meanwhile. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { ResumingTls } from '../../../agent/link/resuming-tls.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { startCoordinatorProcess } from '../../harness/processes/everynode-processes.js';

/** Connects, stores the ticket and disconnects. Returns whether the session was resumed. */
function visit(tls: ResumingTls, port: number, ca: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = tls.connect({ host: '127.0.0.1', port, ca });
    socket.on('error', reject);
    // Tickets arrive before the first response.
    socket.once('data', () => {
      resolve(socket.isSessionReused());
      socket.destroy();
    });
    socket.write('GET /version HTTP/1.1\r\nHost: everynode\r\n\r\n');
  });
}

test('TLS sessions survive a restart of the coordinator, and end with their keys', async (context) => {
  const data = temporaryDirectory();
  const flags = ['--port', String(await freePort())];
  const port = Number(flags[1]);
  const tls = new ResumingTls();
  let coordinator = await startCoordinatorProcess(data, flags);
  context.after(() => coordinator.end('SIGKILL'));
  const ca = readFileSync(join(data, 'pki/ca.crt'), 'utf8');
  assert.equal(await visit(tls, port, ca), false);
  assert.equal(await visit(tls, port, ca), true);
  await coordinator.end('SIGKILL');
  coordinator = await startCoordinatorProcess(data, flags);
  assert.equal(await visit(tls, port, ca), true, 'after a restart');
  await coordinator.end('SIGKILL');
  const keys = join(data, 'ticket-keys');
  assert.equal(statSync(keys).mode & 0o777, 0o600);
  rmSync(keys);
  coordinator = await startCoordinatorProcess(data, flags);
  assert.equal(await visit(tls, port, ca), false, 'with other keys');
});
