/** An ephemeral container runs once, also if the engine loses it or the agent restarts. The engine is hollow. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { ObservedContainer } from '../../../agent/runtime/runtime-driver.js';
import type { ContainerStatus } from '../../../shared/kube/pods/pod-types.js';
import { PodFixture } from '../../harness/pods/pod-fixture.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

const SHORT = { pattern: '*short:*', exit: { afterMs: 1000, code: 3 } };

let fixture: PodFixture;
beforeEach(() => {
  fixture = new PodFixture([SHORT]);
});
afterEach(() => fixture.close());

const own = (): ContainerStatus | undefined => fixture.statuses.get('uid-a')?.ephemeralContainerStatuses?.[0];

async function engineHas(): Promise<ObservedContainer[]> {
  const all = await fixture.driver.inspectPod('uid-a');
  return all.filter(({ identity }) => identity.container === 'dbg');
}

/** Assigns the Pod, and then the same Pod with an ephemeral container, as a coordinator does. */
async function debugWith(image: string): Promise<void> {
  fixture.assignPod(podOf('a'));
  await fixture.until('the Pod runs', () => fixture.state('a') === 'running');
  fixture.assignPod(podOf('a', { ephemeralContainers: [{ name: 'dbg', image }] }));
  await fixture.until('it runs', () => own()?.state?.running !== undefined);
}

async function removeFromEngine(): Promise<void> {
  for (const { id } of await engineHas()) await fixture.driver.remove(id);
}

describe('an ephemeral container', () => {
  test('that ended and was removed from the engine keeps its status and is not started again', async () => {
    await debugWith('short:1');
    await fixture.pass(1500);
    await fixture.until('its end', () => own()?.state?.terminated?.exitCode === 3);
    const before = own();
    await removeFromEngine();
    await fixture.restartAgent();
    await fixture.until('a report', () => own() !== undefined);
    await fixture.pass(60_000);
    assert.deepEqual(own(), before);
    assert.deepEqual(await engineHas(), []);
    assert.equal(fixture.events.filter((text) => text.includes('container dbg')).length, 1);
  });

  test('that was removed while it ran ends with an unknown result', async () => {
    await debugWith('long:1');
    await removeFromEngine();
    await fixture.restartAgent();
    await fixture.until('its end', () => own()?.state?.terminated !== undefined);
    assert.equal(own()?.state?.terminated?.reason, 'ContainerStatusUnknown');
    await fixture.pass(60_000);
    assert.deepEqual(await engineHas(), []);
    assert.equal(fixture.state('a'), 'running');
  });

  test('that runs is not touched by a restart of the agent', async () => {
    await debugWith('long:1');
    const [before] = await engineHas();
    await fixture.restartAgent();
    await fixture.until('it runs', () => own()?.state?.running !== undefined);
    const now = await engineHas();
    assert.deepEqual(
      now.map(({ id, startedAt }) => [id, startedAt]),
      [[before?.id, before?.startedAt]],
    );
  });

  test('has the Events of a container', async () => {
    await debugWith('long:1');
    assert.deepEqual(
      fixture.events.filter((text) => text.includes('dbg')),
      ['Created: Created container: dbg', 'Started: Started container dbg'],
    );
  });
});
