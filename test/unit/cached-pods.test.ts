/** What workers have the cache keep: when a Pod could begin, once what stood in its place is gone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cachedPods } from '../../agent/cached-pods.js';
import { heldAfterGone, heldAfterSet } from '../../agent/decisions/held-pod.js';
import { DesiredCache } from '../../agent/desired/desired-cache.js';
import { ManualClock } from '../../shared/process/clock.js';
import { silentLogger } from '../../shared/process/log.js';
import { podOf } from '../harness/pod-host-bench.js';

const OWNED = {
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'ds', controller: true }],
};

/** A host that holds two Pods of one DaemonSet; the first was let go of. */
async function holding(begun: string[]) {
  const clock = new ManualClock(1_000);
  const cache = DesiredCache.inMemory(clock, silentLogger);
  const held = (name: string) =>
    heldAfterSet(
      undefined,
      { uid: name, digest: name, pod: podOf(name, {}, { uid: name, ...OWNED }) },
      1_000,
    );
  await cache.put(heldAfterGone(held('first'), 1_000), held('second'));
  const source = cachedPods(cache, clock, {
    hasBegun: (uid) => begun.includes(uid),
    onForgotten: () => undefined,
  });
  clock.advance(30_000);
  source.forget('first');
  return cache.get('second');
}

test('a Pod that waited for another one could begin when that was gone', async () => {
  assert.equal((await holding([]))?.startableAt, 31_000);
});

test('a Pod that ran beside the one before it, as by a surge, has begun long ago', async () => {
  const second = await holding(['second']);
  assert.equal(second?.acceptedAt, 1_000);
  assert.equal(second?.startableAt, undefined);
});
