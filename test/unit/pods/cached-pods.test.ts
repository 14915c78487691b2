/** The start time of a Pod that workers store in the cache, once its predecessor has ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCachedPodSource } from '../../../agent/assembly/cached-pod-source.js';
import {
  afterAssign,
  afterUnassign,
  hasRemovedContainers,
} from '../../../agent/decisions/pods/assigned-pod.js';
import { DesiredCache } from '../../../agent/desired/desired-cache.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

const OWNED = {
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'ds', controller: true }],
};

/** A host that has had two Pods of one DaemonSet assigned for 30 s. The first was removed. */
async function holding(begun: string[]) {
  const clock = new ManualClock(1_000);
  const cache = DesiredCache.inMemory(clock, silentLogger);
  const held = (name: string) =>
    afterAssign(undefined, { uid: name, digest: name, pod: podOf(name, {}, { uid: name, ...OWNED }) }, 1_000);
  const gone = afterUnassign(held('first'), 1_000);
  await cache.put(gone, held('second'));
  const source = createCachedPodSource(cache, clock);
  const hasContainers = (uid: string) => begun.includes(uid);
  clock.advance(30_000);
  return { cache, source, held, gone, hasContainers };
}

test('a Pod that waited for another Pod can start once that Pod has ended', async () => {
  const { cache, source, gone, hasContainers } = await holding([]);
  source.forget(gone, hasContainers);
  assert.equal(cache.get('second')?.startableAt, 31_000);
  assert.equal(cache.get('first'), undefined);
});

test('a Pod that ran next to its predecessor, as in a surge, has already started', async () => {
  const { cache, source, gone, hasContainers } = await holding(['second']);
  source.forget(gone, hasContainers);
  assert.equal(cache.get('second')?.acceptedAt, 1_000);
  assert.equal(cache.get('second')?.startableAt, undefined);
});

test('a Pod of a handover that started before the end of its predecessor was stored can start when that end is seen again', async () => {
  const { cache, source, held, hasContainers } = await holding(['second']);
  await cache.put({
    ...held('first'),
    lifecycle: { kind: 'handedOver', deadline: 2_000, containersRemoved: false, replacedBy: 'second' },
  });
  source.markContainersRemoved('first', hasContainers);
  assert.equal(cache.get('second')?.startableAt, 31_000);
  assert.deepEqual(
    [cache.get('first')].map((first) => first && hasRemovedContainers(first)),
    [true],
  );
});

test('a Pod that waited for containers that only the engine knew can start once they are gone', async () => {
  const { cache, source, gone, hasContainers } = await holding([]);
  cache.forget('first');
  source.forget(gone, hasContainers);
  assert.equal(cache.get('second')?.startableAt, 31_000);
});
