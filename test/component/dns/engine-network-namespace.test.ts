/** Whether the Pods of an engine can reach this process's network, found by the engine's processes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { describe, test } from 'node:test';
import { engineNetwork } from '../../../agent/runtime/engine-network-namespace.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { whyNoNamespaces } from '../../harness/netfilter/namespace-network.js';

const SOCKET = { socketPath: '/run/docker.sock' };
const NO_PROCESS = 0x7fff_ffff;
const networkOf = (...pids: number[]) => engineNetwork(SOCKET, () => Promise.resolve(pids));

describe('the network of an engine', () => {
  test('is the own one if a process behind the socket is in it', async () => {
    assert.equal(await networkOf(NO_PROCESS, process.pid), 'own');
  });

  test('is unknown while no process behind the socket is visible', async () => {
    assert.equal(await networkOf(), 'unknown');
    assert.equal(await networkOf(NO_PROCESS), 'unknown');
  });

  test('is another one at an address of another host', async () => {
    assert.equal(await engineNetwork({ host: '192.0.2.1', port: 2375 }), 'other');
    assert.equal(await engineNetwork({ host: '127.0.0.1', port: 2375 }), 'unknown');
  });

  test('is another one if the engine runs in a network namespace of its own', async (context) => {
    const why = whyNoNamespaces();
    if (why !== undefined) return leaveOut(context, 'an engine in another network namespace', why);
    const engine = spawn('unshare', ['--net', 'sleep', '60']);
    try {
      const pid = engine.pid ?? assert.fail('unshare did not start');
      const namespaceOf = (process: number | 'self') => readlinkSync(`/proc/${process}/ns/net`);
      await untilPasses(() => assert.notEqual(namespaceOf(pid), namespaceOf('self')));
      assert.equal(await networkOf(pid), 'other');
    } finally {
      engine.kill();
    }
  });
});
