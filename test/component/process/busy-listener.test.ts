/** Connections that arrive while the coordinator's event loop is busy. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import { startCoordinatorProcess } from '../../harness/processes/everynode-processes.js';

/** More than Node's default backlog of 511. */
const CROWD = 1_500;

describe('while the coordinator does not run', () => {
  for (const [links, threads] of [
    ['the main thread', '0'],
    ['a link thread', '1'],
  ] as const) {
    test(`the kernel accepts ${CROWD} connections for ${links}`, async (t) => {
      const allowed = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
      if (allowed < CROWD) {
        leaveOut(t, 'a backlog for a crowd', `net.core.somaxconn is ${allowed}`);
        return;
      }
      const flags = ['--link-threads', threads];
      const coordinator = await startCoordinatorProcess(join(temporaryDirectory(), 'data'), flags);
      const port = Number(new URL(/server: (\S+)/.exec(coordinator.kubeconfig)?.[1] ?? '').port);
      const sockets: Socket[] = [];
      t.after(async () => {
        for (const socket of sockets) socket.destroy();
        await coordinator.end('SIGKILL');
      });
      process.kill(coordinator.pid, 'SIGSTOP');
      let connected = 0;
      for (let count = 0; count < CROWD; count += 1) {
        const socket = connect({ host: '127.0.0.1', port });
        socket.on('error', () => undefined);
        socket.once('connect', () => {
          connected += 1;
        });
        sockets.push(socket);
      }
      await until(() => connected === CROWD, { timeoutMs: 10_000, what: 'all to be connected' });
      assert.ok(coordinator.running);
    });
  }
});
