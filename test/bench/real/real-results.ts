/** The table of orchestrators on real engines: names, goals, and the origin of each value. */
import { percentile, type Result } from '../bench-result.js';
import type { ContainerLifetime, Deployment } from './fleet-timings.js';
import { type AgentFigures, type IdleFigures, PODS_A_NODE } from './measure-agents.js';

/** Values of each round: the floor, Everynode, and Swarm if requested. */
interface Measured<T> {
  floor: readonly T[];
  product: readonly T[];
  swarm?: readonly T[];
}

type Row = Pick<Result, 'number' | 'name' | 'goal'>;

function result<T>(row: Row, { floor, product, swarm }: Measured<T>, read: (value: T) => number): Result {
  return {
    ...{ section: 'real', unit: 'ms', ...row },
    ...{ floor: floor.map(read), product: product.map(read), ...(swarm && { swarm: swarm.map(read) }) },
  };
}

function difference(number: string, name: string, most: number): Row {
  return { number, name, goal: { kind: 'difference', most } };
}

function ratio(number: string, name: string, most: number): Row {
  return { number, name, goal: { kind: 'ratio', most } };
}

export function lifetimeResults(lives: Measured<ContainerLifetime>): Result[] {
  const overhead = lives.product.map(
    ({ started }, index) => started - (lives.floor[index]?.started ?? Number.NaN),
  );
  return [
    result(difference('1', 'label added to a node → container started', 15), lives, ({ started }) => started),
    {
      ...{
        section: 'real',
        number: '1',
        name: 'the same, what is above the floor, p95',
        unit: 'ms',
        floor: [],
      },
      ...{ product: [percentile(overhead, 0.95)], goal: { kind: 'product', most: 50 } },
    },
    result(difference('2', 'label removed → container dead', 15), lives, ({ ended }) => ended),
    result(difference('4', 'container killed → running again', 15), lives, ({ restarted }) => restarted),
  ];
}

export function deploymentResults(deployments: Measured<Deployment>): Result[] {
  return [
    result(
      ratio('3', 'DaemonSet created → 8 nodes run it, and shown so', 1.08),
      deployments,
      ({ shown }) => shown,
    ),
    result(ratio('5', 'rolling update of 8 nodes, one at a time', 1.15), deployments, ({ one }) => one.all),
    result(
      ratio('5', 'rolling update of 8 nodes, all at once', 1.1),
      deployments,
      ({ together }) => together.all,
    ),
    result(
      difference('5', 'a node without its container, one at a time', 15),
      deployments,
      ({ one }) => one.gap,
    ),
    result(
      difference('5', 'a node without its container, all at once', 15),
      deployments,
      ({ together }) => together.gap,
    ),
  ];
}

/** Swarm's values that are comparable with an agent's. */
export interface SwarmFigures {
  lost: number[];
  idle: IdleFigures;
}

/** A row without a floor: only the product's value is measured. */
function alone(row: Row & { unit: string }, product: number[], swarm?: number[]): Result {
  return { section: 'real', floor: [], ...row, product, ...(swarm && { swarm }) };
}

export function agentResults(
  { lost, cut, started, idle, memory }: AgentFigures,
  swarm?: SwarmFigures,
): Result[] {
  const most = (value: number) => ({ kind: 'product', most: value }) as const;
  const shown = 'shown as disconnected';
  return [
    alone({ number: '6', name: `agent killed → ${shown}`, unit: 'ms', goal: most(50) }, lost, swarm?.lost),
    // One and a half heartbeat intervals and a second.
    alone({ number: '6', name: `cable cut → ${shown}`, unit: 'ms', goal: most(16_000) }, [cut]),
    result(ratio('18', 'agent started → shown as connected', 1.4), started, (value) => value),
    alone(
      { number: '10', name: 'idle CPU of the coordinator, 8 agents', unit: '% of a core', goal: most(0.15) },
      [idle.manager],
      swarm && [swarm.idle.manager],
    ),
    alone(
      {
        number: '17',
        name: `idle CPU of an agent, ${PODS_A_NODE} Pods`,
        unit: 'ms a minute',
        goal: most(30),
      },
      [idle.worker],
      swarm && [swarm.idle.worker],
    ),
    {
      ...result(
        ratio('16', `memory of an agent with ${PODS_A_NODE} Pods against an empty Node`, 1.25),
        { floor: memory.product.map(() => memory.floor), product: memory.product },
        ({ rss }) => rss,
      ),
      unit: 'MB',
    },
    alone(
      { number: '16', name: 'of that, its own: neither shared nor of a file', unit: 'MB', goal: most(12) },
      memory.product.map(({ privateDirty }) => privateDirty),
    ),
  ];
}
