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
export async function engineUpgraded(fixture: EngineFixture): Promise<void> {
  for (const [name, spec] of PODS) fixture.assignPod(name, spec);
  for (const [name] of PODS) await fixture.untilReady(name);
  const before = await fixture.driver.list();
  await fixture.engine.restart('upgrade');
  // Once this Pod runs, the agent has observed all containers of the upgraded engine.
  fixture.assignPod('after', { containers: [APP] });
  await fixture.untilReady('after');
  if (fixture.engine.keepsContainers) await untouched(fixture, before);
  else await startedAnew(fixture, before);
  for (const name of [...PODS.map(([each]) => each), 'after']) await fixture.delete(name);
  assert.deepEqual(await fixture.driver.list(), []);
}

/** The containers are the same ones, and no status reports a restart. */
async function untouched(fixture: EngineFixture, before: readonly ObservedContainer[]): Promise<void> {
  assert.deepEqual(running(await fixture.driver.list()), running(before));
  for (const [name] of PODS) {
    assert.ok(fixture.isReady(name), name);
    for (const { restartCount } of statusesOf(fixture, name)) assert.equal(restartCount, 0, name);
  }
}

/** Containers that the engine stopped run again, exactly once, unless their restart policy is Never. */
async function startedAnew(fixture: EngineFixture, before: readonly ObservedContainer[]): Promise<void> {
  await fixture.until('once has ended', () => Boolean(statusesOf(fixture, 'once')[0]?.state?.terminated));
  for (const name of ['alone', 'pair']) {
    // A start that fails while the engine stops is one more restart, and the last state shows it.
    const expected = (last: string | undefined) => (last === 'StartError' ? 2 : 1);
    const isAgain = () =>
      statusesOf(fixture, name).every(
        ({ restartCount, lastState }) => restartCount === expected(lastState?.terminated?.reason),
      );
    await fixture.until(`${name} runs again`, () => isAgain() && fixture.isReady(name));
    for (const status of statusesOf(fixture, name)) assert.ok(status.lastState?.terminated, name);
  }
  const [now, then] = [running(await fixture.driver.list()), running(before)];
  const names = now.map((text) => text.slice(0, text.lastIndexOf(' ')));
  assert.deepEqual(names, ['alone app', 'pair ', 'pair one', 'pair two']);
  assert.ok(now.every((text) => !then.includes(text)));
}

function statusesOf(fixture: EngineFixture, name: string): ContainerStatus[] {
  return fixture.statuses.get(name)?.containerStatuses ?? [];
}

/** `POD CONTAINER ID` of each running container, without the Pod that was added later. A sandbox has no name. */
function running(containers: readonly ObservedContainer[]): string[] {
  return containers
    .filter(({ state, identity }) => state === 'running' && identity.podName !== 'after')
    .map(({ id, identity: { podName, container } }) => `${podName} ${container} ${id}`)
    .sort();
}
