/** The update lock of a host by a file or a socket, and its received time. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { durableFile } from '../../../agent/desired/durable-file.js';
import { CoordinatorTime } from '../../../agent/handovers/coordinator-time.js';
import { updateLockAt } from '../../../agent/handovers/update-lock.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const QUESTION = { namespace: 'shop', pod: 'till-1', images: ['till:2'] };

async function answering(path: string, answer: (socket: Socket, question: string) => void) {
  const server = createServer((socket) => socket.once('data', (text) => answer(socket, String(text))));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return server;
}

test('an existing file is an update lock, a missing one is not', async () => {
  const path = join(temporaryDirectory(), 'hold');
  const hold = updateLockAt(path, systemClock, systemClock);
  assert.equal(await hold.ask(QUESTION), undefined);
  writeFileSync(path, 'a sale is under way\n');
  assert.deepEqual(await hold.ask(QUESTION), { reason: 'a sale is under way' });
  writeFileSync(path, 'a sale\nuntil: 2001-01-01T00:00:00Z\n');
  assert.equal(await hold.ask(QUESTION), undefined, 'its time is over');
  rmSync(path);
  assert.equal(await hold.ask(QUESTION), undefined);
});

test('a lock socket is asked about the Pod to be replaced, and allows it or not', async () => {
  const path = join(temporaryDirectory(), 'hold');
  const hold = updateLockAt(path, systemClock, systemClock);
  const asked: unknown[] = [];
  let word = 'the arm moves\n';
  const server = await answering(path, (socket, question) => {
    asked.push(JSON.parse(question));
    socket.end(word);
  });
  assert.deepEqual(await hold.ask(QUESTION), { reason: 'the arm moves' });
  word = 'ok\n';
  assert.equal(await hold.ask(QUESTION), undefined);
  assert.deepEqual(asked, [QUESTION, QUESTION]);
  await new Promise((resolve) => server.close(resolve));
});

test('a lock socket that does not answer counts as busy', async () => {
  const path = join(temporaryDirectory(), 'hold');
  const sockets: Socket[] = [];
  const server = await answering(path, (socket) => sockets.push(socket));
  const hold = await updateLockAt(path, systemClock, systemClock).ask(QUESTION);
  assert.match(hold?.reason ?? '', /cannot query .*: no answer within 2000 ms/);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test('a received time is trusted for the boot in which it arrived, by any agent process', async () => {
  const path = join(temporaryDirectory(), 'coordinator-time.json');
  let uptime = 1_000;
  const open = (bootMark: string) =>
    CoordinatorTime.open({ bootMark, uptimeMs: () => uptime }, durableFile(path), silentLogger);
  const first = await open('boot-1');
  assert.equal(first.now(), undefined);
  await first.update(1_000_000);
  uptime += 5_000;
  assert.equal(first.now(), 1_005_000);
  assert.equal((await open('boot-1')).now(), 1_005_000, 'the next agent of the same boot');
  assert.equal((await open('boot-2')).now(), undefined, 'the host was off, for who knows how long');
});
