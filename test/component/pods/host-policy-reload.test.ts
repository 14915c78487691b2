/**
 * The policy of a host over a real agent: forbidden Pods fail in the API, and a reload changes the policy without a
 * restart.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { tokenInLine } from '../../harness/hub/join-line.js';
import {
  runEverynode,
  startAgentProcess,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';

const PODS = '/api/v1/namespaces/default/pods';

test('a forbidden Pod ends Failed, also a running one; a reload applies the policy, and an invalid one changes nothing', async (context) => {
  const folder = temporaryDirectory();
  const data = join(folder, 'coordinator');
  const coordinator = await startCoordinatorProcess(data);
  context.after(() => coordinator.end('SIGKILL'));
  const made = await runEverynode(['token', 'create', '--data', data]);
  const token = tokenInLine(made.stdout);
  const server = /server: (\S+)/.exec(coordinator.kubeconfig)?.[1] ?? '';
  const policy = join(folder, 'policy.yaml');
  const config = join(folder, 'agent.yaml');
  writeFileSync(policy, 'hostNetwork: false\n');
  writeFileSync(config, `policy: ${policy}\n`);
  const agent = startAgentProcess({
    node: 'n1',
    server,
    token,
    dataDir: join(folder, 'agent'),
    args: ['--config', config],
  });
  context.after(() => agent.end('SIGKILL'));
  const api = new CoordinatorApi(coordinator.kubeconfig);
  context.after(() => api.close());

  const create = (name: string) => {
    const spec = { nodeName: 'n1', hostNetwork: true, containers: [{ name: 'app', image: 'app:1' }] };
    return api.request('POST', PODS, { metadata: { name }, spec });
  };
  const becomes = (name: string, phase: string, reason?: string) =>
    untilPasses(async () => {
      const { status } = await api.request<Pod>('GET', `${PODS}/${name}`);
      assert.deepEqual([status?.phase, status?.reason], [phase, reason]);
    }, 60_000);
  const logged = (text: string) =>
    untilPasses(
      () => assert.ok(readFileSync(join(folder, 'agent-agent.log'), 'utf8').includes(text)),
      60_000,
    );

  await untilPasses(() => api.request('GET', '/api/v1/nodes/n1').then(() => undefined), 60_000);
  await create('before');
  await becomes('before', 'Failed', 'HostPolicy');

  writeFileSync(policy, 'hostNetwork: true\n');
  process.kill(agent.pid, 'SIGHUP');
  await logged('settings reloaded');
  await create('allowed');
  await becomes('allowed', 'Running');

  writeFileSync(policy, 'hostNetwok: false\n');
  process.kill(agent.pid, 'SIGHUP');
  await logged('the agent keeps the old ones');
  await create('still-allowed');
  await becomes('still-allowed', 'Running');

  writeFileSync(policy, 'hostNetwork: false\n');
  process.kill(agent.pid, 'SIGHUP');
  await becomes('allowed', 'Failed', 'HostPolicy');
  await becomes('still-allowed', 'Failed', 'HostPolicy');
  assert.ok(agent.running, 'the same process all along');
});
