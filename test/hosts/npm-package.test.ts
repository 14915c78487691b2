/**
 * The npm package in an empty directory, as a user without a clone has it. Run it by `npm run hosts`: npm compiles SQLite
 * for minutes.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../harness/basics/temporary-directory.js';
import { until } from '../harness/basics/wait-until.js';

const TIMEOUT_MS = 120_000;

test('the packed package runs a fleet of one host from an empty directory, and stops on Ctrl-C', async () => {
  const packed = temporaryDirectory();
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', packed], {
    stdio: 'ignore',
  });
  const [tarball = assert.fail()] = readdirSync(packed);
  const folder = temporaryDirectory();
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', join(packed, tarball)];
  execFileSync('npm', install, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const data = join(folder, 'data');
  const args = [
    '--no',
    'everynode',
    'up',
    '--runtime',
    'hollow',
    '--data',
    data,
    '--port',
    '0',
    '--host',
    '127.0.0.1',
  ];
  // A process group of its own, so that the signal reaches the program as Ctrl-C in a terminal does.
  const up = spawn('npx', args, { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [up.stdout, up.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const ended = new Promise<number | null>((done) => up.on('exit', done));
  const isReady = () => {
    if (up.exitCode !== null) throw new Error(output);
    return output.includes('is Ready.');
  };
  try {
    await until(isReady, { timeoutMs: TIMEOUT_MS, what: 'the node to be Ready' });
    assert.match(readFileSync(join(data, 'kubeconfig'), 'utf8'), /server: https:\/\/127\.0\.0\.1:\d+/);
    assert.ok(existsSync(join(data, 'everynode.db')));
  } finally {
    process.kill(-(up.pid ?? assert.fail()), 'SIGINT');
    await ended;
  }
  assert.match(output, /stopping; containers keep running/);
});
