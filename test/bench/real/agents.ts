/** The agents themselves: their start, their death, a cut cable, what they cost while nothing happens. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WAITS } from '../../harness/test-images.js';
import { BenchDaemonSet } from '../bench-daemon-set.js';
import { pairs } from '../pairs.js';
import { cpuMsOf, memoryMegabytes } from '../process-memory.js';
import type { Bench } from '../section.js';
import { IMAGE } from './engines.js';
import type { EverynodeHosts } from './everynode.js';
import { withTlsServer } from './tls-server.js';

const PODS_A_NODE = 3;
/** Its agent has been killed once: by then that is long ago. */
const CUT = 0;

export async function measureAgents(bench: Bench, hosts: EverynodeHosts): Promise<void> {
  await measureStart(bench, hosts);
  await measureCut(bench, hosts);
  const daemonSets = Array.from({ length: PODS_A_NODE }, () => new BenchDaemonSet(hosts.api));
  for (const daemonSet of daemonSets) {
    await daemonSet.create({ image: IMAGE, command: WAITS });
    await daemonSet.untilReady(hosts.engines.length);
  }
  await measureIdle(bench, hosts);
  await measureMemory(bench, hosts);
  for (const daemonSet of daemonSets) await daemonSet.remove();
}

/**
 * Goals 6 and 18: one agent after another is killed and started, none twice: of a link that comes and goes within
 * ten seconds the coordinator tells only once.
 */
async function measureStart({ quick, report }: Bench, hosts: EverynodeHosts): Promise<void> {
  const lost: number[] = [];
  const left = hosts.engines.keys();
  const ours = async () => {
    const index = left.next().value ?? 0;
    const killed = performance.now();
    await hosts.killAgent(index);
    lost.push((await hosts.untilNode(index, 'Connected', 'False', killed)) - killed);
    const begun = performance.now();
    hosts.startAgent(index);
    return (await hosts.untilNode(index, 'Connected', 'True', begun)) - begun;
  };
  const started = await withTlsServer(({ port, caFile, nextConnection }) => {
    const bare = async () => {
      const begun = performance.now();
      const connected = nextConnection();
      const agent = startNode('bare-agent', String(port), caFile);
      await connected;
      const took = performance.now() - begun;
      await end(agent);
      return took;
    };
    return pairs(quick ? 5 : hosts.engines.length - 1, bare, ours);
  });
  report({
    ...{ section: 'real', number: '6', name: 'agent killed → shown as disconnected', unit: 'ms', floor: [] },
    ...{ product: lost, goal: { kind: 'product', most: 50 } },
  });
  report({
    ...{ section: 'real', number: '18', name: 'agent started → shown as connected', unit: 'ms' },
    ...{ ...started, goal: { kind: 'ratio', most: 1.4 } },
  });
}

/** Goal 6, silence: one and a half beats and a second. */
async function measureCut({ report }: Bench, hosts: EverynodeHosts): Promise<void> {
  const { engine } = hosts.engines[CUT] ?? {};
  if (!engine) return;
  const cut = performance.now();
  engine.onHost('ip', 'link', 'set', 'eth0', 'down');
  const shown = (await hosts.untilNode(CUT, 'Connected', 'False', cut)) - cut;
  engine.onHost('ip', 'link', 'set', 'eth0', 'up');
  engine.onHost('ip', 'route', 'replace', 'default', 'via', engine.gateway);
  await hosts.untilNode(CUT, 'Connected', 'True', cut + shown);
  report({
    ...{ section: 'real', number: '6', name: 'cable cut → shown as disconnected', unit: 'ms', floor: [] },
    ...{ product: [shown], goal: { kind: 'product', most: 16_000 } },
  });
}

/** Goals 10 and 17. */
async function measureIdle({ quick, report }: Bench, hosts: EverynodeHosts): Promise<void> {
  const seconds = quick ? 15 : 60;
  // What the Pods' arrival set off is to be over.
  await pause(quick ? 2_000 : 10_000);
  const agents = hosts.agents.map(({ pid = 0 }) => pid);
  const before = agents.map(cpuMsOf);
  const coordinatorMs = await hosts.cost.during(() => pause(seconds * 1000));
  const spent = agents.map((pid, index) => ((cpuMsOf(pid) - (before[index] ?? 0)) * 60) / seconds);
  const mean = spent.reduce((sum, each) => sum + each, 0) / spent.length;
  const idle = { section: 'real', floor: [] } as const;
  report({
    ...{ ...idle, number: '10', name: 'idle CPU of the coordinator, 8 agents', unit: '% of a core' },
    ...{ product: [coordinatorMs / seconds / 10], goal: { kind: 'product', most: 0.15 } },
  });
  report({
    ...{ ...idle, number: '17', name: `idle CPU of an agent with ${PODS_A_NODE} Pods`, unit: 'ms a minute' },
    ...{ product: [mean], goal: { kind: 'product', most: 30 } },
  });
}

/** Goal 16. */
async function measureMemory({ report }: Bench, hosts: EverynodeHosts): Promise<void> {
  const empty = startNode('empty-node');
  if (empty.stdout) await once(empty.stdout, 'data');
  const bare = memoryMegabytes(empty.pid ?? 0);
  await end(empty);
  const agents = hosts.agents.map(({ pid = 0 }) => memoryMegabytes(pid));
  const memory = { section: 'real', number: '16', unit: 'MB' } as const;
  report({
    ...{ ...memory, name: `memory of an agent with ${PODS_A_NODE} Pods against an empty Node` },
    ...{ floor: agents.map(() => bare.rss), product: agents.map(({ rss }) => rss) },
    goal: { kind: 'ratio', most: 1.25 },
  });
  report({
    ...{ ...memory, name: 'of that, what no other process shares and no file backs' },
    ...{
      floor: agents.map(() => bare.privateDirty),
      product: agents.map(({ privateDirty }) => privateDirty),
    },
    goal: { kind: 'product', most: 12 },
  });
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
