/** Upgrades an engine under running containers: no container runs twice, none is lost, and every status is correct. */
import assert from 'node:assert/strict';
import type { ObservedContainer } from '../../../agent/runtime/runtime-driver.js';
import type { ContainerStatus, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import type { EngineFixture } from '../../harness/engines/engine-fixture.js';
import { shell } from '../../harness/engines/test-images.js';

const WAITS = 'trap "exit 0" TERM; while :; do /bin/busybox sleep 3600 & wait $!; done';
const APP = { name: 'app', image: 'app:1', command: shell(WAITS) };
const PAIR = ['one', 'two'].map((name) => ({ ...APP, name }));
/** One Pod with a single container, one with two containers in a sandbox, and one with restart policy Never. */
const PODS: readonly [string, PodSpec][] = [
  ['alone', { containers: [APP] }],
  ['pair', { containers: PAIR }],
  ['once', { containers: [APP], restartPolicy: 'Never' }],
];

/**
 * Upgrades the fixture's engine and compares the containers and reported statuses with what the engine did to the
 * containers.
 */
export async function engineUpgraded(bench: EngineFixture): Promise<void> {
  for (const [name, spec] of PODS) bench.assignPod(name, spec);
  for (const [name] of PODS) await bench.untilReady(name);
  const before = await bench.driver.list();
  await bench.engine.restart('upgrade');
  // Once this Pod runs, the agent has observed all containers of the upgraded engine.
  bench.assignPod('after', { containers: [APP] });
  await bench.untilReady('after');
  if (bench.engine.keepsContainers) await untouched(bench, before);
  else await startedAnew(bench, before);
  for (const name of [...PODS.map(([each]) => each), 'after']) await bench.delete(name);
  assert.deepEqual(await bench.driver.list(), []);
}

/** The containers are the same ones, and no status reports a restart. */
async function untouched(bench: EngineFixture, before: readonly ObservedContainer[]): Promise<void> {
  assert.deepEqual(running(await bench.driver.list()), running(before));
  for (const [name] of PODS) {
    assert.ok(bench.isReady(name), name);
    for (const { restartCount } of statusesOf(bench, name)) assert.equal(restartCount, 0, name);
  }
}

/** Containers that the engine stopped run again, exactly once, unless their restart policy is Never. */
async function startedAnew(bench: EngineFixture, before: readonly ObservedContainer[]): Promise<void> {
  await bench.until('once has ended', () => Boolean(statusesOf(bench, 'once')[0]?.state?.terminated));
  for (const name of ['alone', 'pair']) {
    const isAgain = () => statusesOf(bench, name).every(({ restartCount }) => restartCount === 1);
    await bench.until(`${name} runs again`, () => isAgain() && bench.isReady(name));
    for (const status of statusesOf(bench, name)) assert.ok(status.lastState?.terminated, name);
  }
  const [now, then] = [running(await bench.driver.list()), running(before)];
  const names = now.map((text) => text.slice(0, text.lastIndexOf(' ')));
  assert.deepEqual(names, ['alone app', 'pair ', 'pair one', 'pair two']);
  assert.ok(now.every((text) => !then.includes(text)));
}

function statusesOf(bench: EngineFixture, name: string): ContainerStatus[] {
  return bench.statuses.get(name)?.containerStatuses ?? [];
}

/** `POD CONTAINER ID` of each running container, without the Pod that was added later. A sandbox has no name. */
function running(containers: readonly ObservedContainer[]): string[] {
  return containers
    .filter(({ state, identity }) => state === 'running' && identity.podName !== 'after')
    .map(({ id, identity: { podName, container } }) => `${podName} ${container} ${id}`)
    .sort();
}
