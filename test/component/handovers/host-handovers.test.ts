/** Handovers that hosts carry out by themselves: a coordinator and the real agents over hollow engines. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hasImages } from '../../../coordinator/decisions/rollouts/pre-pull-schedule.js';
import {
  HANDOVER_ANNOTATION,
  HANDOVER_CONDITION,
  handoverAnnotationOf,
  REVERTED_CONDITION,
  WITHDRAWN,
} from '../../../shared/kube/handovers/host-handover.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { prePulls } from '../../../shared/kube/rollouts/pre-pull-annotations.js';
import type { RolloutPolicySpec } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { runCommand } from '../../harness/simulated/simulated-actions.js';
import { type SimulatedFleet, startSimulatedFleet } from '../../harness/simulated/simulated-fleet-fixture.js';

const NODES = 3;
const TIMEOUT_MS = 30_000;
const APPS = '/apis/apps/v1/namespaces/default/daemonsets';
const FLEET = '/apis/fleet.everynode.dev/v1/namespaces/default';

let simulated: SimulatedFleet;

before(async () => {
  simulated = await startSimulatedFleet(NODES);
});

after(() => simulated.stop());

/** One DaemonSet with its own policy. */
class Governed {
  constructor(readonly name: string) {}

  /** Applies both. Resolves when the first revision is ready everywhere. */
  async start(policy: Omit<RolloutPolicySpec, 'selector'>): Promise<void> {
    const matchLabels = { app: this.name };
    const spec = { selector: { matchLabels }, ...policy };
    await simulated.api.request('POST', `${FLEET}/rolloutpolicies`, { metadata: { name: this.name }, spec });
    await this.create('app:1');
    await this.until('the first revision everywhere', (pods) => pods.every(isReady) && pods.length === NODES);
  }

  async create(image: string): Promise<void> {
    const matchLabels = { app: this.name };
    const template = { metadata: { labels: matchLabels }, spec: this.#containers(image) };
    await simulated.api.request('POST', APPS, {
      metadata: { name: this.name, labels: matchLabels },
      spec: { selector: { matchLabels }, updateStrategy: ONE_BY_ONE, template },
    });
  }

  async release(image: string, annotations: Record<string, string> = {}): Promise<void> {
    const template = { metadata: { annotations }, spec: this.#containers(image) };
    await simulated.api.request('PATCH', `${APPS}/${this.name}`, { spec: { template } }, STRATEGIC);
  }

  async pods(): Promise<Pod[]> {
    const path = `/api/v1/namespaces/default/pods?labelSelector=app=${this.name}`;
    return (await simulated.api.items<Pod>(path)).items;
  }

  rollout(): Promise<Rollout> {
    return simulated.api.request<Rollout>('GET', `${FLEET}/rollouts/${this.name}`);
  }

  async until(what: string, holds: (pods: Pod[]) => boolean): Promise<Pod[]> {
    let pods: Pod[] = [];
    const isSo = async () => {
      pods = await this.pods();
      return holds(pods);
    };
    await until(isSo, { timeoutMs: TIMEOUT_MS, what });
    return pods;
  }

  #containers(image: string) {
    return { containers: [{ name: 'main', image }], terminationGracePeriodSeconds: 1 };
  }
}

const STRATEGIC = 'application/strategic-merge-patch+json';
const ONE_BY_ONE = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };

const isReady = ({ status }: Pod) => findCondition(status?.conditions, 'Ready')?.status === 'True';
const isReverted = ({ status }: Pod) =>
  findCondition(status?.conditions, REVERTED_CONDITION)?.status === 'True';
const imageRun = ({ status }: Pod) => status?.containerStatuses?.[0]?.image ?? '';
const isLive = ({ metadata }: Pod) => metadata.deletionTimestamp === undefined;
const waitsForImage = ({ status }: Pod) =>
  findCondition(status?.conditions, HANDOVER_CONDITION)?.reason === 'ImageNotPulled';
const hasTurn = (pod: Pod) => handoverAnnotationOf(pod) !== undefined;
const DARK_IMAGE = 'docker.io/library/app:dark';
const nodesOf = (pods: readonly Pod[]) => pods.map(({ spec }) => spec.nodeName).sort();

test('a good release replaces one Pod per host, each once, and leaves no pending handover', async () => {
  const app = new Governed('good');
  await app.start({ confirm: { deadlineSeconds: 1 } });
  const before = await app.pods();
  await app.release('app:2');
  const pods = await app.until('the second revision everywhere', (all) => {
    assert.ok(all.filter(isLive).length <= NODES, 'two Pods of one host at once');
    return all.length === NODES && all.every((pod) => isReady(pod) && imageRun(pod).endsWith('app:2'));
  });
  assert.deepEqual(nodesOf(pods), nodesOf(before));
  assert.ok(pods.every(({ metadata }) => metadata.annotations?.[HANDOVER_ANNOTATION] === undefined));
  assert.ok(pods.every(({ metadata }) => before.every((old) => old.metadata.uid !== metadata.uid)));
});

test('a release that does not become ready is reverted by its host, counted as failed, and not retried', async () => {
  const app = new Governed('bad');
  await app.start({ confirm: { deadlineSeconds: 2 }, failureBudget: { maxFailed: 0 } });
  await app.release('app:2', { 'simulate.everynode.dev/ready-after': '1h' });
  const pods = await app.until('one host to be back', (all) =>
    all.some((pod) => isReverted(pod) && imageRun(pod) !== ''),
  );
  const [reverted, ...others] = pods.filter(isReverted);
  assert.ok(reverted);
  assert.deepEqual(others, [], 'the second host was never touched');
  const running = await app.until('what ran before to run again', (all) =>
    all.every(
      ({ status }) => status?.containerStatuses?.[0]?.state?.running && status.containerStatuses[0].ready,
    ),
  );
  assert.ok(running.every((pod) => imageRun(pod).endsWith('app:1')));
  assert.equal(findCondition(reverted.status?.conditions, 'Ready')?.reason, 'RevertedByHost');
  await until(async () => (await app.rollout()).status?.phase === 'Failed', {
    timeoutMs: TIMEOUT_MS,
    what: 'the rollout to fail',
  });
  assert.deepEqual(nodesOf(running), nodesOf(pods), 'one Pod a host');
  assert.ok(
    running.some(({ metadata }) => metadata.uid === reverted.metadata.uid),
    'the very same Pod',
  );
});

test('a release that makes its host reboot repeatedly is reverted by that host (row 22)', async () => {
  const app = new Governed('reboots');
  await app.start({ confirm: { deadlineSeconds: 600 }, failureBudget: { maxFailed: 0 } });
  await app.release('app:reboots');
  const isNew = (pod: Pod) => imageRun(pod).endsWith('app:reboots') && isReady(pod);
  const pods = await app.until('the first host to run it', (all) => all.some(isNew));
  const node = pods.find(isNew)?.spec.nodeName ?? '';
  const [host] = simulated.hosts.select(({ name }) => name === node);
  assert.ok(host);
  for (let boot = 0; boot < 3; boot += 1) await host.reboot();
  const back = await app.until('what ran before to run again', (all) =>
    all.some((pod) => pod.spec.nodeName === node && isReverted(pod) && imageRun(pod).endsWith('app:1')),
  );
  const reverted = back.filter(isReverted);
  assert.deepEqual(nodesOf(reverted), [node]);
  const condition = findCondition(reverted[0]?.status?.conditions, REVERTED_CONDITION);
  assert.equal(condition?.reason, 'HostRebooted');
  const isFailed = async () => (await app.rollout()).status?.phase === 'Failed';
  await until(isFailed, { timeoutMs: TIMEOUT_MS, what: 'the rollout to fail' });
});

test('a disconnected host completes its handover and reports it after reconnecting', async () => {
  const app = new Governed('dark');
  await app.start({ confirm: { deadlineSeconds: 1 } });
  await app.release('app:dark', { 'simulate.everynode.dev/pull-time': '1500ms' });
  const pods = await app.until('a host to wait for the image', (all) => all.some(waitsForImage));
  const [old] = pods.filter(waitsForImage);
  const node = old?.spec.nodeName ?? '';
  await runCommand(simulated, `offline ${node}`);
  const [host] = simulated.hosts.select(({ name }) => name === node);
  await until(() => host?.hasRun('app:dark') === true, {
    timeoutMs: TIMEOUT_MS,
    what: 'the host to begin without a link',
  });
  assert.ok(
    (await app.pods()).some(({ metadata }) => metadata.uid === old?.metadata.uid),
    'nobody knows yet',
  );
  await runCommand(simulated, `online ${node}`);
  const known = await app.until('the coordinator to know', (all) =>
    all.some((pod) => pod.spec.nodeName === node && imageRun(pod) === DARK_IMAGE && isReady(pod)),
  );
  assert.ok(known.filter(isLive).filter(({ spec }) => spec.nodeName === node).length === 1, 'one Pod on it');
});

test('a release whose image is unavailable stops no Pod, and fails', async () => {
  const app = new Governed('missing');
  const failureBudget = { maxFailed: 0, progressDeadlineSeconds: 2 };
  await app.start({ updateLock: {}, failureBudget });
  const before = (await app.pods()).map(({ metadata }) => metadata.uid).sort();
  await app.release('app:missing', { 'simulate.everynode.dev/pull': 'fail' });
  const isFailed = async () => (await app.rollout()).status?.phase === 'Failed';
  await until(isFailed, { timeoutMs: TIMEOUT_MS, what: 'the rollout to fail' });
  const after = await app.until('the turn to be taken back', (all) =>
    all.every(({ metadata }) => metadata.annotations?.[HANDOVER_ANNOTATION] === undefined),
  );
  assert.deepEqual(after.map(({ metadata }) => metadata.uid).sort(), before);
  assert.ok(after.every(isReady));
});

test('an orphaned Pod loses its handover, and gets another one of the DaemonSet that adopts it', async () => {
  const app = new Governed('orphan');
  await app.start({ updateLock: {}, failureBudget: { maxFailed: 0 } });
  const before = (await app.pods()).map(({ metadata }) => metadata.uid).sort();
  await app.release('app:never', { 'simulate.everynode.dev/pull': 'fail' });
  await app.until('a host to wait for the image', (all) => all.some(waitsForImage));
  await simulated.api.request('DELETE', `${APPS}/${app.name}`, { propagationPolicy: 'Orphan' });
  const orphans = await app.until('the host to know that the turn is gone', (all) =>
    all.every((pod) => !pod.metadata.ownerReferences && !hasTurn(pod) && !waitsForImage(pod)),
  );
  assert.deepEqual(orphans.map(({ metadata }) => metadata.uid).sort(), before);
  assert.ok(
    orphans.some(({ status }) => findCondition(status?.conditions, HANDOVER_CONDITION)?.reason === WITHDRAWN),
  );
  // The last of its Pods may be removed before the DaemonSet.
  const isGone = async () => (await simulated.api.send('GET', `${APPS}/${app.name}`)).code === 404;
  await until(isGone, { timeoutMs: TIMEOUT_MS, what: 'the DaemonSet to be gone' });
  await app.create('app:1');
  await app.until('a DaemonSet to adopt them', (all) =>
    all.every(({ metadata }) => metadata.ownerReferences),
  );
  await app.release('app:2');
  const after = await app.until('the revision of who adopted them everywhere', (all) =>
    all.every((pod) => isReady(pod) && imageRun(pod).endsWith('app:2') && !hasTurn(pod)),
  );
  assert.equal(after.length, NODES);
});

test('the next image is prefetched by a limited number of hosts at once, before any wave may open', async () => {
  const app = new Governed('ahead');
  const waves = [{ name: 'all', approval: 'Manual' as const }];
  await app.start({ waves, prePull: { maxParallel: 2 } });
  // Slow enough to be observed.
  await runCommand(simulated, 'slow 300ms *');
  await app.release('app:ahead');
  let most = 0;
  const haveIt = async () => {
    const { items } = await simulated.api.items<Node>('/api/v1/nodes');
    const asked = items.filter((node) => prePulls(node).some(({ images }) => images.includes('app:ahead')));
    const done = items.filter((node) => hasImages(node, ['app:ahead']));
    most = Math.max(most, asked.length - done.length);
    return done.length === NODES;
  };
  await until(haveIt, { timeoutMs: TIMEOUT_MS, what: 'every host to have the image' });
  await runCommand(simulated, 'slow 0ms *');
  assert.equal(most, 2, 'two at once, and no more');
  assert.ok(
    (await app.pods()).every((pod) => imageRun(pod).endsWith('app:1')),
    'and no Pod was replaced',
  );
});
