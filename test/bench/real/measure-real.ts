/** Real engines on this machine, each in a network namespace: the floor, Everynode and, if requested, Docker Swarm. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchContext } from '../bench-section.js';
import { BareFleet } from '../floors/bare-fleet.js';
import { alternate } from '../paired-runs.js';
import { measureServiceNames } from '../services/measure-service-names.js';
import { type BenchEngine, IMAGE, startEngines, stopEngines } from './bench-engines.js';
import { EverynodeFleet } from './everynode-fleet.js';
import { EverynodeHosts } from './everynode-hosts.js';
import {
  type ContainerLifetime,
  type Deployment,
  timeContainerLifetime,
  timeDeployment,
  warmUp,
} from './fleet-timings.js';
import { type AgentFigures, measureAgents } from './measure-agents.js';
import type { MeasuredFleet } from './measured-fleet.js';
import { agentResults, deploymentResults, lifetimeResults, type SwarmFigures } from './real-results.js';
import { Swarm } from './swarm-cluster.js';

const ENGINES = 8;

/** Timings of fleets that ran alternately, in the fleets' order. */
interface Timed {
  lives: ContainerLifetime[][];
  deployments: Deployment[][];
}

export async function measureReal(bench: BenchContext): Promise<void> {
  bench.progress('starting engines');
  const engines = await startEngines(bench.swarm ? ENGINES + 1 : ENGINES);
  if (typeof engines === 'string') return bench.skip('section real', engines);
  const folder = mkdtempSync(join(tmpdir(), 'enbench-'));
  try {
    const workers = engines.slice(0, ENGINES);
    const { timed, agents } = await measureEverynode(bench, workers, folder);
    const [manager] = engines.slice(ENGINES);
    const swarm = manager && (await measureSwarm(bench, manager, workers));
    report(bench, { timed, agents, ...(swarm && { swarm }) });
  } finally {
    bench.progress('stopping engines');
    await stopEngines(engines);
    rmSync(folder, { recursive: true, force: true });
  }
  await measureServiceNames(bench);
}

async function measureEverynode(
  bench: BenchContext,
  engines: readonly BenchEngine[],
  folder: string,
): Promise<{ timed: Timed; agents: AgentFigures }> {
  bench.progress('starting coordinator and agents');
  const hosts = await EverynodeHosts.start(engines, folder);
  try {
    const everynode = new EverynodeFleet(hosts.api, hosts.nodeName(0), engines.length);
    await everynode.prepare();
    const timed = await time(
      bench,
      'floor and Everynode',
      [new BareFleet(engines, IMAGE), everynode],
      engines,
    );
    return { timed, agents: await measureAgents(hosts, bench) };
  } finally {
    await hosts.stop();
  }
}

async function measureSwarm(
  bench: BenchContext,
  manager: BenchEngine,
  workers: readonly BenchEngine[],
): Promise<SwarmFigures & { timed: Timed }> {
  bench.progress('Swarm: starting');
  const swarm = await Swarm.start(manager, workers);
  try {
    const fleet = await swarm.fleet();
    await fleet.prepare();
    const timed = await time(bench, 'Swarm', [fleet], workers);
    bench.progress('Swarm: rest');
    const idle = await swarm.idle(bench.quick);
    bench.progress('Swarm: a lost node');
    return { timed, idle, lost: [await swarm.timeLoss(ENGINES - 1)] };
  } finally {
    await swarm.stop();
  }
}

async function time(
  { quick, progress }: BenchContext,
  who: string,
  fleets: readonly MeasuredFleet[],
  engines: readonly BenchEngine[],
): Promise<Timed> {
  const each = <T>(what: string, rounds: number, work: (fleet: MeasuredFleet) => Promise<T>) =>
    alternate(
      rounds,
      fleets.map((fleet) => () => work(fleet)),
      (round) => progress(`${who}: ${what}, ${round} of ${rounds}`),
    );
  progress(`${who}: warming up`);
  await warmUp(fleets, engines);
  for (const fleet of fleets) await timeContainerLifetime(fleet, engines);
  return {
    lives: await each('one container', quick ? 5 : 20, (fleet) => timeContainerLifetime(fleet, engines)),
    deployments: await each('all engines', quick ? 2 : 5, (fleet) => timeDeployment(fleet, engines)),
  };
}

interface Measurements {
  timed: Timed;
  agents: AgentFigures;
  swarm?: SwarmFigures & { timed: Timed };
}

function report(bench: BenchContext, { timed, agents, swarm }: Measurements): void {
  const beside = <T>([floor = [], product = []]: T[][], [values]: T[][] = []) => ({
    ...{ floor, product },
    ...(values && { swarm: values }),
  });
  const results = [
    ...lifetimeResults(beside(timed.lives, swarm?.timed.lives)),
    ...deploymentResults(beside(timed.deployments, swarm?.timed.deployments)),
    ...agentResults(agents, swarm),
  ];
  for (const result of results) bench.report(result);
}
