/** `down` names every other agent of its cluster on this machine, with a command that removes it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dataDirOf } from '../../../agent/program/other-agents.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until, untilPasses } from '../../harness/basics/wait-until.js';
import { tokenInLine } from '../../harness/hub/join-line.js';
import {
  runEverynode,
  startAgentProcess,
  startProgram,
} from '../../harness/processes/everynode-processes.js';

test('the command that down prints for the second agent of the host ends it and removes its data', async (context) => {
  const folder = temporaryDirectory();
  const data = join(folder, 'data');
  const log = join(folder, 'up.log');
  const upArgs = ['up', '--data', data, '--port', '0', '--runtime', 'hollow', '--node-name', 'n1'];
  const up = startProgram('coordinator/cli/everynode.js', upArgs, log);
  context.after(() => up.end('SIGKILL'));
  const isReady = () => readFileSync(log, 'utf8').includes('Node n1 is Ready');
  await until(isReady, { timeoutMs: 60_000, what: 'the node to be Ready' });
  const created = await runEverynode(['token', 'create', '--data', data, '--advertise', '127.0.0.1']);
  const [, server = ''] = /--server (\S+)/.exec(created.stdout) ?? assert.fail(created.stdout);
  const token = tokenInLine(created.stdout);
  const dataDir = join(folder, "the second agent's data");
  const second = startAgentProcess({ node: 'n2', server, token, dataDir });
  context.after(() => second.end('SIGKILL'));
  const hasJoined = () =>
    existsSync(join(dataDir, 'identity.json')) &&
    readFileSync(join(dataDir, 'identity.json'), 'utf8').includes('clusterUID');
  await until(hasJoined, { timeoutMs: 60_000, what: 'the second agent to join' });

  const { code, stdout, stderr } = await runEverynode(['down', '--data', data, '--yes']);
  assert.deepEqual([code, stderr], [0, '']);
  const [, command = ''] = /node n2, data in .+:\n {2}(.+)\n/.exec(stdout) ?? assert.fail(stdout);
  assert.match(command, new RegExp(`^kill ${second.pid} && `));
  const removed = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
  assert.equal(removed.status, 0, removed.stderr);
  assert.equal(existsSync(dataDir), false);
  await untilPasses(() => assert.equal(second.running, false));
});

test('an agent’s directory is read from its flags before its environment', () => {
  assert.equal(dataDirOf(['agent', '--data', '/a'], ['EVERYNODE_AGENT_DATA=/b']), '/a');
  assert.equal(dataDirOf(['agent', '--data=/a'], ['EVERYNODE_AGENT_DATA=/b']), '/a');
  assert.equal(dataDirOf(['agent'], ['X=y', 'EVERYNODE_AGENT_DATA=/b']), '/b');
  assert.equal(dataDirOf(['agent'], []), undefined);
});
