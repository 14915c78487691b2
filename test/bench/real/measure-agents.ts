/** The agents themselves: their start, a kill, a cut cable, and their idle cost. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HEARTBEAT_INTERVAL_MS } from '../../../shared/link/messages/link-messages.js';
import { WAITS } from '../../harness/engines/test-images.js';
import { BenchDaemonSet } from '../bench-daemonset.js';
import type { BenchContext } from '../bench-section.js';
import { pairs } from '../paired-runs.js';
import { cpuMeter, memoryMegabytes } from '../process-memory.js';
import { withTlsServer } from './bare-tls-server.js';
import { IMAGE } from './bench-engines.js';
import type { EverynodeHosts } from './everynode-hosts.js';

export const PODS_A_NODE = 3;
/** Duration of the idle measurement in heartbeats of each agent; a quick run uses one. */
const IDLE_BEATS = 3;

/** Times in ms, memory in MB. */
export interface AgentFigures {
  /** From `kill -9` of an agent until its node is shown as disconnected. */
  lost: number[];
  /** From a cut cable until its node is shown as disconnected. */
  cut: number;
  /** Floor: from a process's start until its WebSocket is open. Product: until its node is shown as connected. */
  started: { floor: number[]; product: number[] };
  idle: IdleFigures;
  /** Memory of an idle Node.js process and of each agent. */
  memory: { floor: Memory; product: Memory[] };
}

/** Idle CPU: of the coordinator or manager, % of a core; of an agent or worker, ms a minute. */
export interface IdleFigures {
  manager: number;
  worker: number;
}

interface Memory {
  rss: number;
  privateDirty: number;
}

export async function measureAgents(
  hosts: EverynodeHosts,
  { quick, progress }: BenchContext,
): Promise<AgentFigures> {
  progress('agents: a cut cable, and meanwhile others killed and started');
  const others = hosts.engines.length - 1;
  const daemonSets = Array.from({ length: PODS_A_NODE }, () => new BenchDaemonSet(hosts.api));
  // Run both at once: until it detects the silence, the coordinator has no work for that host.
  const [cut, { lost, started }] = await Promise.all([
    timeCut(hosts, others),
    timeStarts(hosts, quick ? 5 : others - 1).then(async (times) => {
      for (const daemonSet of daemonSets) await daemonSet.create({ image: IMAGE, command: WAITS });
      return times;
    }),
  ]);
  progress(`agents: ${PODS_A_NODE} Pods each`);
  await Promise.all(daemonSets.map((daemonSet) => daemonSet.untilReady(hosts.engines.length)));
  progress('agents: rest');
  const workers = hosts.agents.map(({ pid = 0 }) => pid);
  const idle = await idleCpu(hosts.coordinator.pid, workers, quick);
  const memory = { floor: await emptyNodeMemory(), product: workers.map(memoryMegabytes) };
  await Promise.all(daemonSets.map((daemonSet) => daemonSet.remove()));
  return { lost, cut, started, idle, memory };
}

/** CPU time of idle processes. Waits first until they are idle. */
export async function idleCpu(
  manager: number,
  workers: readonly number[],
  quick: boolean,
): Promise<IdleFigures> {
  const seconds = ((quick ? 1 : IDLE_BEATS) * HEARTBEAT_INTERVAL_MS) / 1000;
  await pause(quick ? 2_000 : 5_000);
  const meters = [manager, ...workers].map(cpuMeter);
  await pause(seconds * 1000);
  const [ofManager = 0, ...ofWorkers] = meters.map((meter) => meter());
  const mean = ofWorkers.reduce((sum, each) => sum + each, 0) / ofWorkers.length;
  return { manager: ofManager / seconds / 10, worker: (mean * 60) / seconds };
}

/**
 * Kills and starts one agent after another, each once: if a link drops twice within ten seconds, the coordinator
 * reports it only once.
 */
async function timeStarts(
  hosts: EverynodeHosts,
  rounds: number,
): Promise<Pick<AgentFigures, 'lost' | 'started'>> {
  const lost: number[] = [];
  const left = hosts.engines.keys();
  const ours = async () => {
    const index = left.next().value ?? 0;
    const killed = performance.now();
    await hosts.killAgent(index);
    lost.push((await hosts.untilNode(index, 'Connected', 'False', killed)) - killed);
    const startMs = performance.now();
    hosts.startAgent(index);
    return (await hosts.untilNode(index, 'Connected', 'True', startMs)) - startMs;
  };
  const started = await withTlsServer(({ port, caFile, nextConnection }) => {
    const bare = async () => {
      const startMs = performance.now();
      const connected = nextConnection();
      const agent = startNode('bare-agent', String(port), caFile);
      await connected;
      const took = performance.now() - startMs;
      await end(agent);
      return took;
    };
    return pairs(rounds, bare, ours);
  });
  return { lost, started };
}

async function timeCut(hosts: EverynodeHosts, index: number): Promise<number> {
  const { engine } = hosts.engines[index] ?? {};
  if (!engine) throw new Error(`there is no engine ${index}`);
  const cut = performance.now();
  engine.onHost('ip', 'link', 'set', 'eth0', 'down');
  const shown = await hosts.untilNode(index, 'Connected', 'False', cut);
  engine.onHost('ip', 'link', 'set', 'eth0', 'up');
  engine.onHost('ip', 'route', 'replace', 'default', 'via', engine.gateway);
  await hosts.untilNode(index, 'Connected', 'True', shown);
  return shown - cut;
}

async function emptyNodeMemory(): Promise<Memory> {
  const empty = startNode('empty-node');
  if (empty.stdout) await once(empty.stdout, 'data');
  const memory = memoryMegabytes(empty.pid ?? 0);
  await end(empty);
  return memory;
}

function startNode(floor: string, ...args: string[]): ChildProcess {
  const program = fileURLToPath(new URL(`../floors/${floor}.js`, import.meta.url));
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
