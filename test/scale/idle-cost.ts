/**
 * Cost of an idle host, and its behaviour while the coordinator is down and after it returns: `node
 * dist/test/scale/idle-cost.js [MINUTES]`. Bytes are the kernel's count of the connection (`ss`), plus 52 bytes of IP
 * and TCP headers a segment.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiClient, apiClientFromKubeconfig } from '../../coordinator/cli/client/api-client.js';
import { createToken } from '../../coordinator/cli/commands/token-command.js';
import { LINK_LABEL, METERED } from '../../shared/kube/nodes/heartbeat-config.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { freePort } from '../harness/basics/test-sockets.js';
import { until } from '../harness/basics/wait-until.js';
import { EngineContainers } from '../harness/engines/engine-containers.js';
import { startEngine, type TestEngine } from '../harness/engines/test-engines.js';
import { loadTestImages } from '../harness/engines/test-images.js';
import {
  type CoordinatorProcess,
  startAgentProcess,
  startCoordinatorProcess,
} from '../harness/processes/everynode-processes.js';

const SEGMENT_BYTES = 52;
const DAY_MINUTES = 1_440;
const PATIENCE = { timeoutMs: 120_000, what: 'the host and its Pods' };
const PODS = '/api/v1/namespaces/default/pods';
const MINUTES = Number(process.argv[2] ?? 4);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

interface Cost {
  wireBytes: number;
  diskBytes: number;
}

/** Cost so far of the agent's connection to `port` and of its process. */
function costOf(port: number, pid: number): Cost {
  const filter = ['state', 'established', `( dport = :${port} )`];
  const lines = execFileSync('ss', ['-tinHpO', ...filter], { encoding: 'utf8' }).split('\n');
  const text = lines.filter((line) => line.includes(`pid=${pid},`)).join('\n');
  const sum = (pattern: RegExp) =>
    [...text.matchAll(pattern)].reduce((all, [, count]) => all + Number(count), 0);
  const io = readFileSync(`/proc/${pid}/io`, 'utf8');
  return {
    wireBytes: sum(/\bbytes_(?:sent|received):(\d+)/g) + sum(/\bsegs_(?:out|in):(\d+)/g) * SEGMENT_BYTES,
    diskBytes: Number(/^write_bytes: (\d+)$/m.exec(io)?.[1] ?? 0),
  };
}

async function idle(name: string, port: number, pid: number): Promise<void> {
  const before = costOf(port, pid);
  await new Promise((resolve) => setTimeout(resolve, MINUTES * 60_000));
  const after = costOf(port, pid);
  const aDay = (field: keyof Cost) => ((after[field] - before[field]) / MINUTES) * DAY_MINUTES;
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(3)} MB`;
  print(
    `${name}: ${megabytes(aDay('wireBytes'))} a day on the wire, ${megabytes(aDay('diskBytes'))} to the disk`,
  );
}

async function isPodRunning(api: ApiClient, name: string): Promise<boolean> {
  const pod = await api.request<Pod>('GET', `${PODS}/${name}`).catch(() => undefined);
  return pod?.status?.phase === 'Running';
}

const pod = (name: string) => ({
  metadata: { name },
  spec: {
    nodeName: 'n1',
    containers: [{ name: 'main', image: 'sleeper:1', command: ['/bin/busybox', 'sleep', '100000'] }],
  },
});

async function measure(folder: string, engine: TestEngine): Promise<void> {
  await loadTestImages(engine.socketPath, ['sleeper:1']);
  const port = await freePort();
  const startCoordinator = () => startCoordinatorProcess(join(folder, 'c'), ['--port', String(port)]);
  let coordinator: CoordinatorProcess = await startCoordinator();
  const api = apiClientFromKubeconfig(coordinator.kubeconfigPath);
  const { text: token } = await createToken(api, { ttlSeconds: 0, description: 'idle', reusable: true });
  const agent = startAgentProcess({
    ...{ node: 'n1', server: api.server, token, dataDir: join(folder, 'a'), runtime: engine.kind },
    environment: { DOCKER_HOST: `unix://${engine.socketPath}` },
  });
  const containers = new EngineContainers(engine.socketPath);
  try {
    await until(
      async () => Boolean(await api.request<Node>('GET', '/api/v1/nodes/n1').catch(() => undefined)),
      PATIENCE,
    );
    await api.request('POST', PODS, pod('p1'));
    await until(() => isPodRunning(api, 'p1'), PATIENCE);
    await new Promise((resolve) => setTimeout(resolve, 20_000));
    await idle('idle, one pod', port, agent.pid);
    await api.request('PATCH', '/api/v1/nodes/n1', { metadata: { labels: { [LINK_LABEL]: METERED } } });
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    await idle('idle, metered', port, agent.pid);
    await api.request('PATCH', '/api/v1/nodes/n1', { metadata: { labels: { [LINK_LABEL]: null } } });

    await coordinator.end('SIGKILL');
    const running = async () =>
      (await containers.all()).filter(({ podUID, state }) => podUID && state === 'running');
    const [main] = await running();
    const killedAt = performance.now();
    execFileSync('docker', ['-H', `unix://${engine.socketPath}`, 'kill', main?.id ?? '']);
    await until(async () => (await running()).some(({ id }) => id !== main?.id), PATIENCE);
    print(`container killed offline → its successor runs: ${Math.round(performance.now() - killedAt)} ms`);

    coordinator = await startCoordinator();
    const servesAt = performance.now();
    await api.request('POST', PODS, pod('p2'));
    await until(() => isPodRunning(api, 'p2'), PATIENCE);
    print(
      `coordinator serves again → a pod made meanwhile runs: ${Math.round(performance.now() - servesAt)} ms`,
    );
  } finally {
    containers.close();
    await agent.end('SIGKILL');
    await coordinator.end('SIGKILL');
  }
}

const folder = mkdtempSync(join(tmpdir(), 'everynode-idle-'));
const engine = await startEngine('docker');
if (typeof engine === 'string') throw new Error(engine);
try {
  await measure(folder, engine);
} finally {
  await engine.stop();
  rmSync(folder, { recursive: true, force: true });
}
