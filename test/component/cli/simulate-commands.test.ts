/** Simulation commands have their effect on the selected hosts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { until } from '../../harness/basics/wait-until.js';
import {
  applyEverywhere,
  conditionOf,
  numberReady,
  runCommand,
} from '../../harness/simulated/simulated-actions.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

/** Two heartbeat timeouts and two reconnects, on a busy machine. */
const TIMEOUT_MS = 90_000;
const DELAY_MS = 1_500;

let simulated: SimulatedFleet;

before(async () => {
  simulated = await startSimulatedFleet(6);
});

after(() => simulated.stop());

function untilCondition(node: string, type: string, status: string): Promise<void> {
  const isSo = async () => (await conditionOf(simulated, node, type)) === status;
  return until(isSo, { timeoutMs: TIMEOUT_MS, what: `${node} to have ${type}=${status}` });
}

function podOn(node: string): Promise<Pod | undefined> {
  const path = `/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName=${node}`;
  return simulated.api.items<Pod>(path).then(({ items }) => items[0]);
}

test('a condition that is set is visible on its node only', async () => {
  assert.equal(await runCommand(simulated, 'condition DiskPressure=True node-5'), 1);
  await untilCondition('node-5', 'DiskPressure', 'True');
  assert.equal(await conditionOf(simulated, 'node-4', 'DiskPressure'), 'False');
});

test('a reboot has another boot id and runs the Pod again', async () => {
  await applyEverywhere(simulated, 'rebooted');
  const isReady = async () => (await numberReady(simulated, 'rebooted')) === 6;
  await until(isReady, { timeoutMs: TIMEOUT_MS, what: 'all Pods to be ready' });
  const bootID = async () =>
    (await simulated.api.request<Node>('GET', '/api/v1/nodes/node-6')).status?.nodeInfo?.bootID;
  const before = await bootID();
  assert.equal(await runCommand(simulated, 'reboot node-6'), 1);
  await until(async () => (await bootID()) !== before, { timeoutMs: TIMEOUT_MS, what: 'the other boot' });
  const restarts = async () => (await podOn('node-6'))?.status?.containerStatuses?.[0];
  const runsAgain = async () => (await restarts())?.restartCount === 1 && (await restarts())?.ready === true;
  await until(runsAgain, { timeoutMs: TIMEOUT_MS, what: 'the Pod to run again' });
  assert.equal((await podOn('node-1'))?.status?.containerStatuses?.[0]?.restartCount, 0);
});

test('offline hosts become disconnected, keep their containers, and reconnect when they are online', async () => {
  const { running } = simulated.hosts.counts();
  assert.equal(await runCommand(simulated, 'offline node-1,node-2'), 2);
  await Promise.all(['node-1', 'node-2'].map((node) => untilCondition(node, 'Connected', 'False')));
  assert.equal(await conditionOf(simulated, 'node-3', 'Connected'), 'True');
  assert.equal(simulated.hosts.counts().running, running);
  assert.equal(await runCommand(simulated, 'online *'), 6);
  await Promise.all(['node-1', 'node-2'].map((node) => untilCondition(node, 'Connected', 'True')));
  assert.equal(simulated.hosts.counts().running, running);
});

test('a slow link is slow in both directions, until it is reset', async () => {
  assert.equal(await runCommand(simulated, `slow ${DELAY_MS}ms node-3`), 1);
  await untilCondition('node-3', 'Connected', 'False');
  await untilCondition('node-3', 'Connected', 'True');
  await applyEverywhere(simulated, 'slowed');
  const applied = performance.now();
  const isReady = async () => (await numberReady(simulated, 'slowed')) === 6;
  await until(isReady, { timeoutMs: TIMEOUT_MS, what: 'all Pods to be ready' });
  const tookMs = performance.now() - applied;
  assert.ok(tookMs >= 2 * DELAY_MS, `down and up again took ${tookMs} ms`);
  assert.equal(await runCommand(simulated, 'slow 0s node-3'), 1);
  const isBack = () => simulated.hosts.counts().live === 6;
  await until(isBack, { timeoutMs: TIMEOUT_MS, what: 'all hosts to be live' });
});
