/**
 * Kills and restarts the coordinator, and the whole fleet reconnects. Agents reconnect spread over time, small requests
 * are served meanwhile, no Pod is created, replaced or started twice, and the fleet is steady within a stated time.
 * Throws the violations.
 */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { PODS } from '../bench-daemonset.js';
import type { HollowFleet } from '../hollow/hollow-fleet.js';
import { duringWork } from './small-requests.js';

const REQUEST_MS = 100;
/**
 * Agents spread their first attempt over this time, ms for each agent (`RECONNECT_SPREAD`), and each rejected agent
 * waits as long again.
 */
const MOST_MS_AN_AGENT = 12;
/** A kill, a start, and other work that does not depend on the fleet's size. */
const AT_LEAST_MS = 60_000;
const TICK_MS = 250;

/** Measured values of one reconnect storm. */
interface StormFigures {
  /** From the coordinator's first response until the last agent was admitted. */
  allBackMs: number;
  /** Until every Node was reported as connected, and the coordinator was idle. */
  steadyMs: number;
  /** Most agents that were admitted within a second. */
  mostInASecond: number;
  p99Ms: number;
}

/** Requires a joined fleet with one Pod on every host. `tell` receives the measured values. */
export async function checkStorm(product: HollowFleet, tell: (what: string) => void): Promise<StormFigures> {
  const { agents, api } = product;
  const podsOf = async () => {
    const { items } = await api.items<Pod>(PODS);
    return items.map(({ metadata, spec, status }) => {
      const restarts = status?.containerStatuses?.map(({ restartCount }) => restartCount).join();
      return `${metadata.uid} ${spec.nodeName} ${restarts}`;
    });
  };
  const before = await podsOf();
  await product.killAndRestart();
  const startMs = performance.now();
  const back: number[] = [];
  let allBackMs = 0;
  const requests = await duringWork(product, async () => {
    while (product.live < agents) {
      back.push(product.live);
      await pause(TICK_MS);
    }
    back.push(product.live);
    allBackMs = performance.now() - startMs;
    await until(() => areAllReady(product), {
      pollMs: 1_000,
      timeoutMs: AT_LEAST_MS + agents * 60,
      what: 'all nodes to be Ready',
    });
    await product.untilQuiet();
  });
  const steadyMs = performance.now() - startMs;
  const mostInASecond = Math.max(...back.map((count, index) => count - (back[index - 1_000 / TICK_MS] ?? 0)));
  const figures = { allBackMs, steadyMs, mostInASecond, p99Ms: requests.p99Ms };
  const text = summary(agents, figures, requests.ownP99Ms);
  tell(text);
  assert.deepEqual((await podsOf()).sort(), before.sort(), 'Pods were made, replaced or started again');
  assert.equal(product.running, agents, 'one container on each host');
  assert.ok(requests.ownP99Ms <= REQUEST_MS, text);
  assert.ok(steadyMs <= AT_LEAST_MS + agents * MOST_MS_AN_AGENT, text);
  return figures;
}

function summary(
  agents: number,
  { allBackMs, steadyMs, mostInASecond, p99Ms }: StormFigures,
  own: number,
): string {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  return (
    `coordinator killed under ${agents} agents: all back ${seconds(allBackMs)} after it served again, at most ${mostInASecond} of them in a second; ` +
    `steady after ${seconds(steadyMs)}; GET p99 ${p99Ms.toFixed(0)} ms, ${own.toFixed(0)} with a core to itself; no Pod was touched`
  );
}

async function areAllReady({ api, agents }: HollowFleet): Promise<boolean> {
  const { items } = await api.items<Node>('/api/v1/nodes');
  const isHere = ({ status }: Node) =>
    ['Ready', 'Connected'].every((type) => isConditionTrue(status?.conditions, type));
  return items.length === agents && items.every(isHere);
}
