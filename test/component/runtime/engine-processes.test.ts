/** The processes behind an engine's socket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { engineProcesses } from '../../../agent/runtime/engine-processes.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

test('the process that listens on the socket is found, by every path to it', async () => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, 'run'));
  symlinkSync('run', join(folder, 'var-run'));
  const server = createServer().listen(join(folder, 'run/engine.sock'));
  await once(server, 'listening');
  for (const path of ['run/engine.sock', 'var-run/engine.sock']) {
    assert.deepEqual(await engineProcesses({ socketPath: join(folder, path) }), [process.pid], path);
  }
  server.close();
});

test('no process is found when none listens, or for an engine on another host', async () => {
  const folder = temporaryDirectory();
  assert.deepEqual(await engineProcesses({ socketPath: join(folder, 'engine.sock') }), []);
  assert.deepEqual(await engineProcesses({ host: '192.0.2.1', port: 2375 }), []);
});
