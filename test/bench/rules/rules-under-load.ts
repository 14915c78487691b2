/**
 * Rules that must hold while a whole fleet gets work at once: small requests are served, no connected host is marked as
 * disconnected, memory does not grow from one rollout to the next, and a coordinator that is killed meanwhile has lost
 * no acknowledged write. Throws the violations.
 */
import assert from 'node:assert/strict';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { until } from '../../harness/basics/wait-until.js';
import { BenchDaemonSet, PODS } from '../bench-daemonset.js';
import type { HollowFleet } from '../hollow/hollow-fleet.js';
import { AcknowledgedWrites } from './acknowledged-writes.js';
import { checkStorm } from './check-storm.js';
import { duringWork } from './small-requests.js';

const NODES = '/api/v1/nodes';
const REQUEST_MS = 100;
const ROLLOUTS = 3;
/** Cache of the newest changes, which watches read (`openSqliteStore`). */
const CHANGE_LOG_KILOBYTES = 64 * 1024;
/** An agent's link, its Node and cached state. */
const AGENT_KILOBYTES = 50;
/** A Pod or an Event: its bytes, its key, and the parsed object if controllers use it. */
const OBJECT_KILOBYTES = 8;
const EVENTS = '/api/v1/events';
const BACK_MS = 900_000;

/** The fleet must not have joined yet; `tell` receives the measured values. */
export async function checkRulesUnderLoad(product: HollowFleet, tell: (what: string) => void): Promise<void> {
  const emptyKilobytes = await product.cost.heapKilobytes();
  await product.join();
  const daemonSet = new BenchDaemonSet(product.api);
  await checkFanOut(product, tell, async () => {
    await daemonSet.create();
    await daemonSet.untilReady(product.agents);
  });
  await product.untilQuiet();
  await checkMemory(product, daemonSet, emptyKilobytes, tell);
  await checkKill(product, daemonSet, tell);
  await product.untilQuiet();
  await checkStorm(product, tell);
  await daemonSet.remove();
}

async function checkFanOut(
  product: HollowFleet,
  tell: (what: string) => void,
  fanOut: () => Promise<void>,
): Promise<void> {
  const { api, agents } = product;
  const nodes = await api.watch(NODES, (await api.items(`${NODES}?limit=1`)).resourceVersion);
  const { p99Ms, ownP99Ms } = await duringWork(product, fanOut);
  nodes.close();
  // CPU time that other processes took from the coordinator's core is subtracted.
  const text = `GET during a fan-out to ${agents}: p99 ${p99Ms.toFixed(0)} ms, ${ownP99Ms.toFixed(0)} with a core to itself`;
  tell(text);
  assert.ok(ownP99Ms <= REQUEST_MS, text);
  const lost = nodes.events.map(({ object }) => object as unknown as Node).filter((node) => !isPresent(node));
  assert.deepEqual(
    lost.map(({ metadata }) => metadata.name),
    [],
    'nodes were marked as lost',
  );
  assert.equal(product.live, agents, 'agents lost their links');
}

function isPresent({ status }: Node): boolean {
  return ['Ready', 'Connected'].every((type) => findCondition(status?.conditions, type)?.status === 'True');
}

/**
 * Memory after several rollouts must be explained by stored objects and bounded caches, so that no rollout leaves
 * anything behind.
 */
async function checkMemory(
  product: HollowFleet,
  daemonSet: BenchDaemonSet,
  emptyKilobytes: number,
  tell: (what: string) => void,
): Promise<void> {
  const { api, agents } = product;
  for (let rollout = 1; rollout <= ROLLOUTS; rollout += 1) {
    await daemonSet.update(versionOf(rollout));
    await daemonSet.untilReady(agents);
    await product.untilQuiet();
  }
  const used = (await product.cost.heapKilobytes()) - emptyKilobytes;
  const objects = (await countOf(api, EVENTS)) + (await countOf(api, PODS));
  const most = CHANGE_LOG_KILOBYTES + AGENT_KILOBYTES * agents + OBJECT_KILOBYTES * objects;
  const megabytes = (kilobytes: number) => `${(kilobytes / 1024).toFixed(0)} MB`;
  const text = `memory after ${ROLLOUTS} rollouts, ${objects} objects: ${megabytes(used)} of at most ${megabytes(most)}`;
  tell(text);
  assert.ok(used <= most, text);
}

async function countOf(api: CoordinatorApi, path: string): Promise<number> {
  type Counted = { items: unknown[]; metadata: { remainingItemCount?: number } };
  const { items, metadata } = await api.request<Counted>('GET', `${path}?limit=1`);
  return items.length + (metadata.remainingItemCount ?? 0);
}

function versionOf(version: number): object {
  return { template: { metadata: { annotations: { version: String(version) } } } };
}

async function checkKill(
  product: HollowFleet,
  daemonSet: BenchDaemonSet,
  tell: (what: string) => void,
): Promise<void> {
  const { api, agents } = product;
  const writes = new AcknowledgedWrites(api, 'acknowledged');
  writes.start();
  await daemonSet.update(versionOf(ROLLOUTS + 1));
  await untilHalfway(product, daemonSet.name);
  const restarted = product.killAndRestart();
  const count = await writes.stop();
  await restarted;
  const broken = await writes.broken();
  assert.deepEqual(broken, [], 'acknowledged writes were lost');
  assert.ok(count > 0, 'nothing was written');
  await product.untilAllLive();
  await daemonSet.untilReady(agents);
  const { items } = await api.items<Pod>(PODS);
  const nodes = new Set(items.map(({ spec }) => spec.nodeName));
  assert.deepEqual([items.length, nodes.size], [agents, agents], 'Pods, and nodes that have one');
  await until(() => product.running === agents, { timeoutMs: BACK_MS, what: 'one container on each host' });
  tell(
    `killed in the middle of a rollout to ${agents}: ${count} acknowledged writes kept, all hosts updated`,
  );
}

/** Polls one small object. */
async function untilHalfway({ api, agents }: HollowFleet, name: string): Promise<void> {
  const path = `/apis/apps/v1/namespaces/default/daemonsets/${name}`;
  const isHalfway = async () => {
    const { metadata, status } = await api.request<DaemonSet>('GET', path);
    const updated = status?.updatedNumberScheduled ?? 0;
    return status?.observedGeneration === metadata.generation && updated >= agents / 4;
  };
  await until(isHalfway, { timeoutMs: BACK_MS, what: 'a part of the fleet to be updated', pollMs: 5 });
}
