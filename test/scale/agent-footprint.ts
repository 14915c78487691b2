/**
 * The agent's use of its host: memory and CPU with a number of real containers, idle and with a liveness and a
 * readiness probe each every ten seconds. Also memory after garbage collection while Pods are created and deleted on a
 * hollow engine.
 *   node dist/test/scale/agent-footprint.js [docker|podman] [SECONDS per measurement] [CYCLES]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMALL_HEAP_FLAGS } from '../../shared/process/service/child-program.js';
import { cpuMeter, memoryMegabytes } from '../bench/process-memory.js';
import { freePort } from '../harness/basics/test-sockets.js';
import { pause, until } from '../harness/basics/wait-until.js';
import { createKubectl, type Kubectl } from '../harness/clients/kubectl.js';
import { daemonImageArchives } from '../harness/engines/daemon-images.js';
import type { EngineKind } from '../harness/engines/test-engines.js';
import { HOST_NAME, HostFixture } from '../harness/hosts/host-fixture.js';
import { processesNaming, startProgram } from '../harness/processes/everynode-processes.js';
import { GarbageCollection } from '../harness/processes/forced-gc.js';

const KIND = (process.argv[2] ?? 'docker') as EngineKind;
const SECONDS = Number(process.argv[3] ?? 60);
const CYCLES = Number(process.argv[4] ?? 3000);
const COUNTS = [1, 20, 100];
const PODS_A_ROUND = 50;
const PATIENCE_MS = 600_000;

function pods(count: number, probed: boolean): string {
  const probe = { httpGet: { path: '/', port: 80 }, periodSeconds: 10 };
  const container = {
    name: 'main',
    image: 'busybox:1.36',
    command: ['/bin/busybox', 'httpd', '-f', '-p', '80', '-h', '/etc'],
    ...(probed
      ? { livenessProbe: { tcpSocket: { port: 80 }, periodSeconds: 10 }, readinessProbe: probe }
      : {}),
  };
  const items = Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${index}` },
    spec: { nodeName: HOST_NAME, terminationGracePeriodSeconds: 0, containers: [container] },
  }));
  return items.map((item) => JSON.stringify(item)).join('\n---\n');
}

async function phases(kubectl: Kubectl): Promise<string[]> {
  const text = await kubectl.ok('get pods -o jsonpath={.items[*].status.phase}');
  return text === '' ? [] : text.split(' ');
}

async function apply(kubectl: Kubectl, manifest: string, count: number): Promise<void> {
  await kubectl.ok('create -f -', manifest);
  await until(async () => (await phases(kubectl)).filter((phase) => phase === 'Running').length === count, {
    timeoutMs: PATIENCE_MS,
    what: `${count} running pods`,
    pollMs: 500,
  });
}

async function removeAll(kubectl: Kubectl): Promise<void> {
  await kubectl.ok('delete pods --all --grace-period=1 --wait=false');
  await until(async () => (await phases(kubectl)).length === 0, {
    timeoutMs: PATIENCE_MS,
    what: 'no pods',
    pollMs: 500,
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Current memory, and CPU as a share of one core over the measured seconds. */
async function figuresOf(pid: number): Promise<string> {
  const cpuMs = cpuMeter(pid);
  await pause(SECONDS * 1000);
  const { rss, privateDirty } = memoryMegabytes(pid);
  const percent = cpuMs() / (SECONDS * 10);
  return `RSS ${rss.toFixed(1)} MB, private ${privateDirty.toFixed(1)} MB, CPU ${percent.toFixed(2)} %`;
}

async function atRest(): Promise<void> {
  const empty = spawn(process.execPath, [...SMALL_HEAP_FLAGS, '-e', 'setInterval(() => undefined, 1e9)']);
  const host = await HostFixture.open(KIND, await daemonImageArchives());
  if (typeof host === 'string') throw new Error(host);
  try {
    say(`an empty Node with the same flags: ${await figuresOf(empty.pid ?? 0)}`);
    const pid = host.agentPid();
    say(`${KIND}, no pods: ${await figuresOf(pid)}`);
    for (const count of COUNTS) {
      for (const probed of [false, true]) {
        await apply(host.kubectl, pods(count, probed), count);
        await pause(15_000);
        say(`${KIND}, ${count} pods${probed ? ', probed' : ''}: ${await figuresOf(pid)}`);
        await removeAll(host.kubectl);
      }
    }
  } finally {
    empty.kill();
    await host.close();
  }
}

async function growth(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-growth-'));
  const data = join(folder, 'data');
  const args = ['up', '--data', data, '--port', String(await freePort()), '--node-name', HOST_NAME];
  const up = startProgram(
    'coordinator/cli/everynode.js',
    [...args, '--runtime', 'hollow'],
    join(folder, 'log'),
  );
  try {
    const kubeconfig = join(data, 'kubeconfig');
    await until(() => readFileSync(join(folder, 'log'), 'utf8').includes('is Ready'), {
      timeoutMs: 60_000,
      what: 'the node to be Ready',
    });
    const kubectl = createKubectl(readFileSync(kubeconfig, 'utf8'));
    const [pid = 0] = processesNaming(join(data, 'agent'));
    const garbage = await GarbageCollection.of(pid);
    for (let cycles = 0; cycles < CYCLES; cycles += PODS_A_ROUND) {
      await apply(kubectl, pods(PODS_A_ROUND, false), PODS_A_ROUND);
      await removeAll(kubectl);
      if ((cycles / PODS_A_ROUND) % 10 === 9) {
        await garbage.run();
        const { rss, privateDirty } = memoryMegabytes(pid);
        say(
          `after ${cycles + PODS_A_ROUND} pods: RSS ${rss.toFixed(1)} MB, private ${privateDirty.toFixed(1)} MB`,
        );
      }
    }
    garbage.close();
    kubectl.remove();
  } finally {
    await up.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  }
}

if (SECONDS > 0) await atRest();
if (CYCLES > 0) await growth();
