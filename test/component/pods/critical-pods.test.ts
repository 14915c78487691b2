/** Critical Pods on a full host: the real workers over the hollow engine, without a coordinator. */
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { ImageBehaviourRow } from '../../../agent/runtime/hollow/image-behaviours.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { PodFixture } from '../../harness/pods/pod-fixture.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

/** An image whose container takes five seconds to stop. */
const SLOW: ImageBehaviourRow = { pattern: '*slow*', stop: { afterMs: 5000 } };
/** An image whose container exits after one second. */
const SHORT: ImageBehaviourRow = { pattern: '*short*', exit: { afterMs: 1000, code: 0 } };

let fixture: PodFixture;
afterEach(() => fixture.close());

function open(): PodFixture {
  fixture = new PodFixture([SLOW, SHORT]);
  fixture.facts.allocatable = { cpu: '1', memory: '1Gi', pods: '10' };
  return fixture;
}

const asking = (cpu: string, image = 'app:1', changes: Partial<PodSpec> = {}): Partial<PodSpec> => ({
  containers: [{ name: 'app', image, resources: { requests: { cpu } } }],
  ...changes,
});
const CRITICAL = { priority: 2_000_001_000 };

async function running(name: string): Promise<void> {
  await fixture.until(`${name} runs`, () => fixture.state(name) === 'running');
}

async function failed(name: string): Promise<string> {
  await fixture.until(`${name} has failed`, () => fixture.statuses.get(`uid-${name}`)?.phase === 'Failed');
  const { reason, message } = fixture.statuses.get(`uid-${name}`) ?? {};
  return `${reason}: ${message}`;
}

/** Resolves when the agent has sent so many stop signals. Only then may the test advance the clock. */
async function stopSignals(count: number): Promise<void> {
  const killings = () => fixture.events.filter((event) => event.startsWith('Killing')).length;
  await fixture.until(`${count} stop signals`, () => killings() >= count);
}

/** Advances the clock until the engine has nothing of the Pod, and then until the waiting Pods check again. */
async function gone(name: string): Promise<void> {
  await fixture.until(`${name} is gone`, async () => {
    await fixture.pass(100);
    return (await fixture.driver.inspectPod(`uid-${name}`)).length === 0;
  });
  await fixture.pass(1000);
}

async function runningPods(): Promise<string> {
  const containers = (await fixture.driver.list()).filter(({ state }) => state === 'running');
  return containers.map(({ identity }) => identity.podName).join();
}

describe('a critical Pod on a full host', () => {
  test("starts once the Pod that it preempts has stopped, which is reported with upstream's texts", async () => {
    open().assignPod(podOf('victim', asking('600m', 'slow:1')));
    fixture.assignPod(podOf('small', asking('200m')));
    await running('victim');
    await running('small');
    fixture.assignPod(podOf('static', asking('500m')), 'static.yaml');
    await stopSignals(1);
    await fixture.pass(4000);
    assert.equal(await runningPods(), 'victim,small');
    assert.equal(fixture.statuses.get('uid-victim')?.phase, 'Running');
    await fixture.pass(1000);
    await gone('victim');
    await running('static');
    assert.equal(await runningPods(), 'small,static');
    assert.equal(await failed('victim'), 'Preempting: Preempted in order to admit critical pod');
    const condition = fixture.statuses
      .get('uid-victim')
      ?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.message],
      ['True', 'TerminationByKubelet', 'Pod was preempted by Kubelet to accommodate a critical pod.'],
    );
    assert.deepEqual(
      fixture.events.filter((event) => event.startsWith('Preempting')),
      ['Preempting: Preempted in order to admit critical pod'],
    );
    assert.deepEqual(await fixture.driver.inspectPod('uid-victim'), [], 'its containers are removed');
  });

  test('lets a Pod of the coordinator with a system priority in, too', async () => {
    open().assignPod(podOf('plain', asking('600m')));
    await running('plain');
    fixture.assignPod(podOf('critical', asking('600m', 'app:1', CRITICAL)));
    await failed('plain');
    await gone('plain');
    await running('critical');
  });

  test('is rejected if no set of Pods frees enough, and preempts none', async () => {
    open().assignPod(podOf('plain', asking('600m')));
    fixture.assignPod(podOf('first', asking('400m')), 'first.yaml');
    await running('plain');
    await running('first');
    fixture.assignPod(podOf('second', asking('700m')), 'second.yaml');
    assert.equal(
      await failed('second'),
      'UnexpectedAdmissionError: Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 100), ]',
    );
    assert.equal(await runningPods(), 'plain,first');
  });

  test('of two, the second counts on nothing that the first has freed for itself', async () => {
    open();
    for (const name of ['a', 'b', 'c']) fixture.assignPod(podOf(name, asking('300m', 'slow:1')));
    for (const name of ['a', 'b', 'c']) await running(name);
    const preempted = () => fixture.events.filter((event) => event.startsWith('Preempting')).length;
    fixture.assignPod(podOf('one', asking('400m')), 'one.yaml');
    await stopSignals(1);
    fixture.assignPod(podOf('two', asking('300m')), 'two.yaml');
    await fixture.pass(5000);
    assert.equal(preempted(), 1);
    await gone('c');
    await running('one');
    await fixture.pass(1000);
    await stopSignals(2);
    await fixture.pass(5000);
    await gone('b');
    await running('two');
    assert.equal((await runningPods()).split(',').length, 3);
    assert.equal(preempted(), 2);
  });

  test('waits for its victim even if the agent restarts while that stops', async () => {
    open().assignPod(podOf('victim', asking('600m', 'slow:1')));
    await running('victim');
    fixture.assignPod(podOf('static', asking('600m')), 'static.yaml');
    await stopSignals(1);
    await fixture.pass(1000);
    await fixture.restartAgent();
    await fixture.pass(2000);
    assert.equal(await runningPods(), 'victim');
    await fixture.pass(3000);
    await gone('victim');
    await running('static');
    assert.equal(await failed('victim'), 'Preempting: Preempted in order to admit critical pod');
    assert.equal(await runningPods(), 'static');
  });

  test('stops no Pod while its end cannot be written to disk, and tries again', async () => {
    open().assignPod(podOf('victim', asking('600m')));
    await running('victim');
    fixture.writeError = new Error('ENOSPC');
    fixture.assignPod(podOf('static', asking('600m')), 'static.yaml');
    await fixture.pass(10_000);
    assert.equal(await runningPods(), 'victim');
    fixture.writeError = undefined;
    await fixture.pass(30_000);
    await stopSignals(1);
    await gone('victim');
    await running('static');
    assert.equal(await runningPods(), 'static');
  });
});

describe('an ordinary Pod on a full host', () => {
  test("is rejected with upstream's reason and text", async () => {
    open().assignPod(podOf('first', asking('600m')));
    await running('first');
    fixture.assignPod(podOf('second', asking('500m')));
    const text = "Node didn't have enough resource: cpu, requested: 500, used: 600, capacity: 1000";
    assert.equal(await failed('second'), `OutOfcpu: Pod was rejected: ${text}`);
    assert.ok(fixture.events.includes(`OutOfcpu: ${text}`));
    assert.equal(await runningPods(), 'first');
  });

  test('waits for a deleted Pod instead of being rejected', async () => {
    open().assignPod(podOf('old', asking('600m', 'slow:1')));
    await running('old');
    fixture.deletePod('uid-old');
    fixture.assignPod(podOf('new', asking('600m')));
    await stopSignals(1);
    await fixture.pass(4000);
    assert.equal(await runningPods(), 'old');
    await fixture.pass(1000);
    await gone('old');
    await running('new');
  });

  test('is not rejected because of an earlier Pod that is rejected itself', async () => {
    open().assignPod(podOf('huge', asking('2')));
    fixture.assignPod(podOf('small', asking('600m')));
    await failed('huge');
    await fixture.pass(1000);
    await running('small');
  });

  test('is not rejected because of a finished Pod that a restarted agent has not inspected yet', async () => {
    open().assignPod(podOf('job', asking('600m', 'short:1', { restartPolicy: 'Never' })));
    await running('job');
    await fixture.pass(1000);
    await fixture.until('job ends', () => fixture.statuses.get('uid-job')?.phase === 'Succeeded');
    const inspect = fixture.driver.inspectPod.bind(fixture.driver);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    fixture.driver.inspectPod = async (uid) => {
      if (uid === 'uid-job') await released;
      return inspect(uid);
    };
    try {
      await fixture.restartAgent();
      fixture.assignPod(podOf('new', asking('600m')));
      const phase = () => fixture.statuses.get('uid-new')?.phase;
      await fixture.until('new waits', () => phase() !== undefined);
      await fixture.pass(3000);
      assert.equal(phase(), 'Pending');
    } finally {
      release();
    }
    await fixture.until('job is inspected', () => fixture.statuses.get('uid-job')?.phase === 'Succeeded');
    await fixture.pass(1000);
    await running('new');
  });

  test('keeps its place when the host is full after a restart of the agent', async () => {
    open().assignPod(podOf('a', asking('600m')));
    await running('a');
    fixture.facts.allocatable = { cpu: '100m', memory: '1Gi', pods: '1' };
    await fixture.restartAgent();
    await running('a');
    assert.equal(await runningPods(), 'a');
  });
});
