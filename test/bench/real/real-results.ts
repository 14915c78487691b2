/** The table of what orchestrators do on real engines: names, goals, and where each value stands. */
import { percentile, type Result } from '../result.js';
import type { Deployment, Life } from './timings.js';

/** Of the floor, of Everynode, and of Swarm if it was asked for, round by round. */
export interface Measured<T> {
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

/** `name` without the label's own words. */
function difference(number: string, name: string, most: number): Row {
  return { number, name, goal: { kind: 'difference', most } };
}

function ratio(number: string, name: string, most: number): Row {
  return { number, name, goal: { kind: 'ratio', most } };
}

export function lifeResults(lives: Measured<Life>): Result[] {
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
