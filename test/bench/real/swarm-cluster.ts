/** Docker Swarm over the same engines: a drained manager on an additional engine, a global service on the others. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { until } from '../../harness/basics/wait-until.js';
import { WAITS } from '../../harness/engines/test-images.js';
import type { BareEngine } from '../floors/bare-engine.js';
import { type BenchEngine, IMAGE } from './bench-engines.js';
import { type IdleFigures, idleCpu } from './measure-agents.js';
import { SwarmFleet } from './swarm-fleet.js';

const PORT = 2377;
const WAIT_MS = 60_000;

interface SwarmNode {
  ID: string;
  Version: { Index: number };
  Spec: { Labels?: Record<string, string>; Role: string; Availability: string };
  Status: { State: string; Addr: string };
}

export class Swarm {
  private constructor(
    readonly manager: BenchEngine,
    readonly workers: readonly BenchEngine[],
    private readonly network: string,
  ) {}

  /** The manager runs no tasks; `workers` do. */
  static async start(manager: BenchEngine, workers: readonly BenchEngine[]): Promise<Swarm> {
    const network = `enswarm${process.pid}`;
    connectHosts(network, [manager, ...workers]);
    const init = { ListenAddr: listenAddress(0), AdvertiseAddr: listenAddress(0), Availability: 'drain' };
    await manager.api.call('POST', '/swarm/init', init);
    const { JoinTokens } = await manager.api.call<{ JoinTokens: { Worker: string } }>('GET', '/swarm');
    for (const [index, { api }] of workers.entries()) {
      const own = { ListenAddr: listenAddress(index + 1), AdvertiseAddr: listenAddress(index + 1) };
      const where = { RemoteAddrs: [listenAddress(0)], JoinToken: JoinTokens.Worker };
      await api.call('POST', '/swarm/join', { ...own, ...where });
    }
    const swarm = new Swarm(manager, workers, network);
    for (const index of workers.keys()) await swarm.#untilState(index, 'ready');
    return swarm;
  }

  async fleet(): Promise<SwarmFleet> {
    const { Id } = await this.manager.api.call<{ Id: string }>('GET', `/images/${IMAGE}/json`);
    const labelFirst = async (wanted: boolean): Promise<void> => {
      const { ID, Version, Spec } = await this.#node(0);
      const Labels = wanted ? { bench: 'on' } : {};
      await this.manager.api.call('POST', `/nodes/${ID}/update?version=${Version.Index}`, {
        ...Spec,
        Labels,
      });
    };
    return new SwarmFleet(this.manager.api, {
      image: Id,
      command: WAITS,
      size: this.workers.length,
      labelFirst,
    });
  }

  /** Time from `kill -9` of a worker's dockerd until its node is shown as down, ms. Restarts dockerd afterwards. */
  async timeLoss(index: number): Promise<number> {
    const killed = performance.now();
    await this.workers[index]?.engine.kill();
    await this.#untilState(index, 'down');
    const took = performance.now() - killed;
    await this.workers[index]?.engine.start();
    await this.#untilState(index, 'ready');
    return took;
  }

  /** Cost of the engines' own processes, because Swarm is a part of them. */
  idle(quick: boolean): Promise<IdleFigures> {
    return idleCpu(pidOf(this.manager), this.workers.map(pidOf), quick);
  }

  async stop(): Promise<void> {
    for (const { api } of [...this.workers, this.manager]) await leave(api);
    execFileSync('ip', ['netns', 'del', this.network]);
  }

  async #node(index: number): Promise<SwarmNode> {
    const nodes = await this.manager.api.call<SwarmNode[]>('GET', '/nodes');
    const found = nodes.find(({ Status }) => Status.Addr === address(index + 1));
    if (!found) throw new Error(`no node has the address ${address(index + 1)}`);
    return found;
  }

  #untilState(index: number, state: string): Promise<void> {
    const isSo = async () => (await this.#node(index)).Status.State === state;
    return until(isSo, { timeoutMs: WAIT_MS, pollMs: 20, what: `Swarm's node ${index} to be ${state}` });
  }
}

function leave(api: BareEngine): Promise<void> {
  return api.call('POST', '/swarm/leave?force=true');
}

/** Path of the pid file that `startEngine` configured for dockerd. */
function pidOf({ engine }: BenchEngine): number {
  return Number(readFileSync(join(dirname(engine.socketPath), 'pid'), 'utf8'));
}

/** An address from the range for network tests (RFC 2544), which does not overlap with the engines' own. */
function address(index: number): string {
  return `198.18.255.${index + 1}`;
}

function listenAddress(index: number): string {
  return `${address(index)}:${PORT}`;
}

/** Connects the engines' hosts over a bridge in a separate network namespace. */
function connectHosts(network: string, engines: readonly BenchEngine[]): void {
  const ip = (...args: string[]) => execFileSync('ip', args);
  ip('netns', 'add', network);
  ip('-n', network, 'link', 'add', 'br0', 'type', 'bridge');
  ip('-n', network, 'link', 'set', 'br0', 'up');
  for (const [index, { engine }] of engines.entries()) {
    const port = `port${index}`;
    engine.onHost('ip', 'link', 'add', 'swarm0', 'type', 'veth', 'peer', 'name', port, 'netns', network);
    ip('-n', network, 'link', 'set', port, 'master', 'br0', 'up');
    engine.onHost('ip', 'addr', 'add', `${address(index)}/24`, 'dev', 'swarm0');
    engine.onHost('ip', 'link', 'set', 'swarm0', 'up');
  }
}
