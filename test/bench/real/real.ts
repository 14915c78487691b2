/** Real engines on this machine, each in a network namespace: the floor, Everynode and, if asked, Docker Swarm. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BareFleet } from '../floors/bare-fleet.js';
import { byTurns } from '../pairs.js';
import type { Bench } from '../section.js';
import { measureAgents } from './agents.js';
import { type BenchEngine, IMAGE, startEngines, stopEngines } from './engines.js';
import { EverynodeHosts } from './everynode.js';
import { EverynodeFleet } from './everynode-fleet.js';
import type { Fleet } from './fleet.js';
import { deploymentResults, lifeResults } from './real-results.js';
import { timeDeployment, timeLife } from './timings.js';

const ENGINES = 8;

export async function measureReal(bench: Bench): Promise<void> {
  const engines = await startEngines(ENGINES);
  if (typeof engines === 'string') return bench.leaveOut('section real', engines);
  const folder = mkdtempSync(join(tmpdir(), 'enbench-'));
  try {
    const hosts = await EverynodeHosts.start(engines, folder);
    try {
      await measureFleets(bench, engines, hosts);
      await measureAgents(bench, hosts);
    } finally {
      await hosts.stop();
    }
  } finally {
    await stopEngines(engines);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureFleets(
  bench: Bench,
  engines: readonly BenchEngine[],
  hosts: EverynodeHosts,
): Promise<void> {
  const everynode = new EverynodeFleet(hosts.api, hosts.nodeName(0), engines.length);
  await everynode.prepare();
  const fleets: Fleet[] = [new BareFleet(engines, IMAGE), everynode];
  const timed = async <T>(rounds: number, time: (fleet: Fleet) => Promise<T>) => {
    const [floor = [], product = []] = await byTurns(
      rounds,
      fleets.map((fleet) => () => time(fleet)),
    );
    return { floor, product };
  };
  const lives = await timed(bench.quick ? 5 : 20, (fleet) => timeLife(fleet, engines));
  for (const result of lifeResults(lives)) bench.report(result);
  const deployments = await timed(bench.quick ? 2 : 5, (fleet) => timeDeployment(fleet, engines));
  for (const result of deploymentResults(deployments)) bench.report(result);
}
