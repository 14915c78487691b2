/** Connections from inside another network. Ending an idle connection process must not lose a request. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NetworkDialer } from '../../../agent/runtime/network-dialer.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';

const IDLE_MS = 30;
const PORT = 8080;
const SERVER = `require('node:net').createServer((s) => s.end('hello')).listen(${PORT}, '127.0.0.1', () => console.log('listening'))`;

test('requests close to the idle timeout of the dialer are all answered', async (context) => {
  if (process.getuid?.() !== 0) return leaveOut(context, 'entering networks', 'it needs root');
  const server = await serverInNetworkOfItsOwn();
  if (typeof server === 'string') return leaveOut(context, 'entering networks', server);
  const dialer = new NetworkDialer(IDLE_MS);
  try {
    for (let round = 0; round < 8; round += 1) {
      const socket = await dialer.dial({ pid: server.pid as number }, PORT);
      assert.equal(String((await once(socket, 'data'))[0]), 'hello');
      socket.destroy();
      await sleep(IDLE_MS - 4 + round);
    }
    await assert.rejects(dialer.dial({ pid: server.pid as number }, PORT + 1), /ECONNREFUSED/);
  } finally {
    dialer.close();
    server.kill('SIGKILL');
  }
});

/** Resolves with a reason where this machine allows no network namespace: without CAP_SYS_ADMIN, `unshare` or `ip`. */
async function serverInNetworkOfItsOwn(): Promise<ChildProcess | string> {
  const inside = `ip link set lo up && exec "$0" -e "$1"`;
  const server = spawn('unshare', ['--net', 'sh', '-c', inside, process.execPath, SERVER], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  server.stderr?.on('data', (text) => {
    complaint += String(text);
  });
  return Promise.race([
    once(server.stdout as NodeJS.ReadableStream, 'data').then(() => server),
    // At its close all its error output has been read. A missing program is reported by an error.
    once(server, 'close').then(
      () => `a network of its own cannot be made: ${complaint.trim()}`,
      (error: Error) => `a network of its own cannot be made: ${error.message}`,
    ),
  ]);
}
