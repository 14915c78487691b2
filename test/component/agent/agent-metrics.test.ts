/** The agent's metrics endpoint on its host. */
import assert from 'node:assert/strict';
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { AgentMetrics } from '../../../agent/metrics/agent-metrics.js';
import { AgentMetricsServer, parseMetricsAddress } from '../../../agent/metrics/agent-metrics-server.js';
import { agentMetricsText } from '../../../agent/metrics/agent-metrics-text.js';
import type { RuntimeDriver } from '../../../agent/runtime/runtime-driver.js';
import { ExitError } from '../../../shared/process/exit-error.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

/** The text format, version 0.0.4. */
const LINE = /^[a-z_][a-z0-9_]*(\{([a-z_]+="[^"\n]*",?)*\})? [0-9.e+-]+$/i;

const FACTS = {
  ...{ node: 'n1', isConnected: true, isEngineUp: false, roundTripMs: 25, desiredPods: 2 },
  services: { known: 3, dnsQueries: 100, cachedReplies: 7 },
  podLogs: { writtenBytes: 900, gaps: 1, malformedLines: 2 },
  ...{ memoryBytes: 5e7, writtenBytes: 10, linkBytes: () => 7 },
};

test('the listen address is off, a host with its port, or a path', () => {
  assert.equal(parseMetricsAddress('off'), undefined);
  assert.deepEqual(parseMetricsAddress('127.0.0.1:10255'), { host: '127.0.0.1', port: 10_255 });
  assert.deepEqual(parseMetricsAddress('[::1]:9'), { host: '::1', port: 9 });
  assert.deepEqual(parseMetricsAddress('/run/a.sock'), { path: '/run/a.sock' });
  for (const wrong of ['', 'on', '127.0.0.1', ':10255', '127.0.0.1:70000', 'a.sock']) {
    assert.throws(() => parseMetricsAddress(wrong), /must be/, wrong);
  }
});

test("Pods, containers and engine operations are counted under the kubelet's metric names", async () => {
  const metrics = new AgentMetrics(1_700_000_000_000);
  const asked = {
    list: async () => [],
    pull: async () => {
      throw new Error('no such image');
    },
    close: () => undefined,
  } as unknown as RuntimeDriver;
  const driver = metrics.operations.instrument(asked);
  await driver.list();
  await driver.list();
  await assert.rejects(driver.pull({ image: 'a' } as never), /no such image/);
  driver.close();
  const container = (name: string, state: object) => ({ name, state, ready: true, restartCount: 0 });
  const pod = (uid: string, phase: 'Running' | 'Failed', states: object[]) =>
    metrics.pods.recordReport({
      ...{ uid, namespace: 'd', name: uid },
      status: { phase, containerStatuses: states.map((state) => container('c', state)) } as never,
    });
  pod('a', 'Running', [{ running: {} }, { waiting: {} }]);
  pod('b', 'Failed', [{ terminated: {} }]);
  pod('c', 'Running', [{ running: {} }]);
  metrics.pods.forget('c');
  const page = agentMetricsText(metrics.values(FACTS));
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual(
    lines.filter((line) => !LINE.test(line)),
    [],
  );
  for (const line of [
    ...['kubelet_running_pods 1', 'kubelet_desired_pods 2', 'kubelet_node_name{node="n1"} 1'],
    ...['created', 'running', 'exited'].map(
      (state) => `kubelet_running_containers{container_state="${state}"} 1`,
    ),
    'kubelet_runtime_operations_total{operation_type="list_containers"} 2',
    'kubelet_runtime_operations_total{operation_type="pull_image"} 1',
    'kubelet_runtime_operations_errors_total{operation_type="pull_image"} 1',
    'everynode_agent_connected 1',
    'everynode_agent_engine_up 0',
    'everynode_agent_services 3',
    'everynode_agent_dns_queries_total 100',
    'everynode_agent_dns_cached_replies 7',
    'everynode_agent_pod_log_bytes_total 900',
    'everynode_agent_pod_log_gaps_total 1',
    'everynode_agent_pod_log_malformed_lines_total 2',
    'everynode_link_round_trip_seconds 0.025',
    'everynode_link_bytes_total{direction="up",cause="heartbeats"} 7',
  ]) {
    assert.ok(lines.includes(line), `${line} in\n${page}`);
  }
  assert.ok(!page.includes('stored_bytes'));
});

test('metrics are served on this host only, by a port or a socket; an address in use is reported', async () => {
  const path = join(temporaryDirectory(), 'a.sock');
  const socket = new AgentMetricsServer({ path }, () => 'x 1\n');
  const port = new AgentMetricsServer({ host: '127.0.0.1', port: 0 }, () => 'x 1\n');
  const ask = (options: object) =>
    new Promise<string>((resolve, reject) => {
      get(options, (answer) => void text(answer).then((body) => resolve(`${answer.statusCode} ${body}`))).on(
        'error',
        reject,
      );
    });
  await socket.start();
  const bound = await port.start();
  try {
    assert.equal(await ask({ socketPath: path, path: '/metrics', agent: false }), '200 x 1\n');
    assert.equal(await ask({ host: '127.0.0.1', port: bound, path: '/healthz', agent: false }), '200 ok');
    assert.equal(
      await ask({ host: '127.0.0.1', port: bound, path: '/pods', agent: false }),
      '404 not found\n',
    );
    const second = new AgentMetricsServer({ host: '127.0.0.1', port: bound }, () => '');
    await assert.rejects(second.start(), ExitError);
  } finally {
    await socket.stop();
    await port.stop();
  }
});

test('only a socket is removed from the configured path, and other users cannot open the new one', async () => {
  const folder = temporaryDirectory();
  const taken = join(folder, 'kept');
  writeFileSync(taken, 'mine');
  await assert.rejects(
    new AgentMetricsServer({ path: taken }, () => '').start(),
    /a file that is not a socket exists/,
  );
  assert.equal(readFileSync(taken, 'utf8'), 'mine');
  const link = join(folder, 'link');
  symlinkSync(taken, link);
  await assert.rejects(new AgentMetricsServer({ path: link }, () => '').start(), ExitError);
  const nowhere = new AgentMetricsServer({ path: join(folder, 'no', 'a.sock') }, () => '');
  await assert.rejects(nowhere.start(), ExitError);

  const path = join(folder, 'a.sock');
  const killed = createServer();
  await new Promise<void>((done) => killed.listen(path, done));
  const server = new AgentMetricsServer({ path }, () => '');
  const umask = process.umask();
  const starting = server.start();
  assert.equal(statSync(path).mode & 0o777, 0o600, 'from its first moment on');
  assert.equal(process.umask(), umask);
  await starting;
  await server.stop();
  await new Promise((done) => killed.close(done));
});
