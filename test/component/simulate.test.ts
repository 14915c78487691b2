/** A small fleet of pretended hosts and a coordinator, in one process. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseCommand, perform } from '../../agent/simulate/command.js';
import { Fleet } from '../../agent/simulate/fleet.js';
import { numberedNodes } from '../../agent/simulate/node-plans.js';
import { type ApiClient, apiClientFromKubeconfig } from '../../coordinator/cli/api-client.js';
import { createToken } from '../../coordinator/cli/token.js';
import { type RunningCoordinator, startCoordinator } from '../../coordinator/main.js';
import { COORDINATOR_SETTINGS } from '../../coordinator/settings.js';
import type { Node } from '../../shared/kube/node.js';
import type { Pod } from '../../shared/kube/pod.js';
import type { DaemonSet } from '../../shared/kube/workload.js';
import { silentLogger } from '../../shared/process/log.js';
import { loadSettings } from '../../shared/process/settings.js';
import { until } from '../harness/until.js';

const NODES = 20;
const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const TIMEOUT_MS = 30_000;

let data: string;
let coordinator: RunningCoordinator;
let api: ApiClient;
let fleet: Fleet;

before(async () => {
  data = mkdtempSync(join(tmpdir(), 'everynode-test-'));
  const settings = await loadSettings(COORDINATOR_SETTINGS, {
    flags: { data, host: '127.0.0.1', port: 0 },
    environment: {},
    environmentPrefix: '',
  });
  coordinator = await startCoordinator(settings, silentLogger);
  api = apiClientFromKubeconfig(join(data, 'kubeconfig'));
  const { text: token } = await createToken(api, { ttlSeconds: 0, description: '' });
  fleet = new Fleet({
    server: coordinator.server,
    token,
    plans: numberedNodes('node', NODES),
    speed: 60,
    firstIndex: 0,
    log: silentLogger,
  });
  await fleet.start();
});

after(async () => {
  await fleet.stop();
  await coordinator.stop();
  rmSync(data, { recursive: true, force: true });
});

async function apply(name: string, annotations: Record<string, string>): Promise<void> {
  const labels = { app: name };
  await api.request('POST', DAEMON_SETS, {
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations },
        spec: { containers: [{ name: 'main', image: 'app:1' }] },
      },
    },
  });
}

async function numberReady(name: string): Promise<number | undefined> {
  return (await api.request<DaemonSet>('GET', `${DAEMON_SETS}/${name}`)).status?.numberReady;
}

test('every host connects, is given its Pod and reports it ready in its own time', async () => {
  assert.equal(fleet.counts().live, NODES);
  await apply('ready', { 'simulate.everynode.dev/ready-after': '30s' });
  const what = 'all Pods to be ready, sixty times faster than they say';
  await until(async () => (await numberReady('ready')) === NODES, { timeoutMs: TIMEOUT_MS, what });
});

test('a Pod that is to fail on two nodes crashes there and nowhere else', async () => {
  await apply('crash', { 'simulate.everynode.dev/fail-on': 'node-3,node-7' });
  const crashed = async (): Promise<string[]> => {
    const { items } = await api.request<{ items: Pod[] }>(
      'GET',
      '/api/v1/namespaces/default/pods?labelSelector=app=crash',
    );
    const failed = items.filter(({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0);
    return failed.map(({ spec }) => spec.nodeName ?? '').sort();
  };
  const what = 'both to have crashed, and the others to be ready';
  await until(async () => (await crashed()).length === 2 && (await numberReady('crash')) === NODES - 2, {
    timeoutMs: TIMEOUT_MS,
    what,
  });
  assert.deepEqual(await crashed(), ['node-3', 'node-7']);
});

test('a command changes the hosts it names: their conditions, and a reboot that restarts their Pods', async () => {
  const run = async (line: string): Promise<number> => {
    const command = parseCommand(line);
    return command ? perform(command, fleet) : 0;
  };
  assert.equal(await run('condition DiskPressure=True node-5'), 1);
  const pressed = async (): Promise<boolean> => {
    const node = await api.request<Node>('GET', '/api/v1/nodes/node-5');
    return node.status?.conditions?.find(({ type }) => type === 'DiskPressure')?.status === 'True';
  };
  await until(pressed, { timeoutMs: TIMEOUT_MS, what: 'the condition to be seen' });
  const bootID = async () =>
    (await api.request<Node>('GET', '/api/v1/nodes/node-6')).status?.nodeInfo?.bootID;
  const before = await bootID();
  assert.equal(await run('reboot node-6'), 1);
  await until(async () => (await bootID()) !== before, { timeoutMs: TIMEOUT_MS, what: 'the other boot' });
});
