/** Simulated hosts follow the annotations of their Pods. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { applyEverywhere, numberReady } from '../../harness/simulated/simulated-actions.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const NODES = 20;
const TIMEOUT_MS = 30_000;

let simulated: SimulatedFleet;

before(async () => {
  simulated = await startSimulatedFleet(NODES, 60);
});

after(() => simulated.stop());

test('every host connects, gets its Pod and reports it ready in its own time', async () => {
  assert.equal(simulated.hosts.counts().live, NODES);
  await applyEverywhere(simulated, 'ready', { 'simulate.everynode.dev/ready-after': '30s' });
  const what = 'all Pods to be ready, sixty times faster than they say';
  await until(async () => (await numberReady(simulated, 'ready')) === NODES, { timeoutMs: TIMEOUT_MS, what });
});

test('a Pod that is to fail on two nodes crashes there and nowhere else', async () => {
  await applyEverywhere(simulated, 'crash', { 'simulate.everynode.dev/fail-on': 'node-3,node-7' });
  const crashed = async (): Promise<string[]> => {
    const path = '/api/v1/namespaces/default/pods?labelSelector=app=crash';
    const { items } = await simulated.api.items<Pod>(path);
    const failed = items.filter(({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0);
    return failed.map(({ spec }) => spec.nodeName ?? '').sort();
  };
  const areAll = async () =>
    (await crashed()).length === 2 && (await numberReady(simulated, 'crash')) === NODES - 2;
  await until(areAll, { timeoutMs: TIMEOUT_MS, what: 'both to have crashed, and the others to be ready' });
  assert.deepEqual(await crashed(), ['node-3', 'node-7']);
});

test('a Pod without a controller that restarts never ends with success', async () => {
  const spec = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'hook:1' }] };
  const pods = '/api/v1/namespaces/default/pods';
  await simulated.api.request('POST', pods, { metadata: { name: 'hook' }, spec });
  const hook = () => simulated.api.request<Pod>('GET', `${pods}/hook`);
  const what = 'the Pod to succeed';
  await until(async () => (await hook()).status?.phase === 'Succeeded', { timeoutMs: TIMEOUT_MS, what });
  assert.equal((await hook()).status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 0);
});
