import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createInformers } from '../../../coordinator/informers/create-informers.js';
import { PODS_BY_NODE, PODS_BY_TARGET_NODE } from '../../../coordinator/informers/informer.js';
import { ALL_KINDS, namespaceKind, nodeKind, podKind } from '../../../coordinator/kinds/index.js';
import { createRegistry } from '../../../coordinator/registry/create-registry.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import { withControlPlane } from '../../harness/controllers/control-plane-fixture.js';
import { nodeObject, pinnedTo, podObject } from '../../harness/objects/object-builders.js';

const names = (objects: Iterable<{ metadata: { name: string } }>) =>
  [...objects].map((object) => object.metadata.name).sort();

describe('informers', () => {
  withControlPlane('a cache contains a write once its revision has been waited for', async (plane) => {
    const { revision } = await plane.registry.create(podKind, 'default', podObject('a'));
    await plane.informers.waitFor(revision);
    assert.equal(plane.informers.pods.get({ namespace: 'default', name: 'a' })?.metadata.name, 'a');
    assert.ok(plane.informers.revision >= revision);
  });

  withControlPlane('a handler reads a revision that includes its change', async (plane) => {
    const seen: [type: string, isIncluded: boolean][] = [];
    plane.informers.pods.onChange(({ current }) => {
      const type = current ? 'stored' : 'deleted';
      const least = current ? Number(current.metadata.resourceVersion) : deletedAt;
      seen.push([type, plane.informers.revision >= least]);
    });
    let deletedAt = Number.POSITIVE_INFINITY;
    const { revision } = await plane.registry.create(podKind, 'default', podObject('a'));
    deletedAt = revision + 1;
    await plane.registry.delete(podKind, { namespace: 'default', name: 'a' });
    await plane.settle();
    assert.deepEqual(seen, [
      ['stored', true],
      ['deleted', true],
    ]);
  });

  withControlPlane('all caches have passed the revision, also those of other kinds', async (plane) => {
    const { revision } = await plane.registry.create(podKind, 'default', podObject('a'));
    await plane.informers.nodes.waitFor(revision);
    assert.equal(plane.informers.pods.size, 1);
  });

  withControlPlane(
    'handlers receive the existing objects, then each change with the old value',
    async (plane) => {
      const { pods } = plane.informers;
      await plane.registry.create(podKind, 'default', podObject('a'));
      await plane.settle();
      const heard: string[] = [];
      pods.onChange(({ previous, current }) =>
        heard.push(`${previous?.metadata.labels?.v}>${current?.metadata.labels?.v}`),
      );
      await plane.registry.modify(podKind, { namespace: 'default', name: 'a' }, (pod) => {
        pod.metadata.labels = { v: '1' };
        return undefined;
      });
      await plane.registry.delete(podKind, { namespace: 'default', name: 'a' });
      await plane.settle();
      assert.deepEqual(heard, ['undefined>undefined', 'undefined>1', '1>undefined']);
    },
  );

  withControlPlane('indexes follow a Pod from its affinity to its binding', async (plane) => {
    const { pods } = plane.informers;
    await plane.registry.create(podKind, 'default', podObject('a', pinnedTo('n1')));
    await plane.settle();
    assert.deepEqual(names(pods.indexed(PODS_BY_TARGET_NODE, 'n1')), ['a']);
    assert.deepEqual(names(pods.indexed(PODS_BY_NODE, 'n1')), []);
    await plane.registry.bind({ namespace: 'default', name: 'a' }, 'n1');
    await plane.settle();
    assert.deepEqual(names(pods.indexed(PODS_BY_NODE, 'n1')), ['a']);
    await plane.registry.confirmStopped(
      { namespace: 'default', name: 'a' },
      pods.indexed(PODS_BY_NODE, 'n1')[0]?.metadata.uid ?? '',
    );
    await plane.settle();
    assert.deepEqual(names(pods.indexed(PODS_BY_NODE, 'n1')), []);
  });

  withControlPlane('an object is found by its uid until it is deleted', async (plane) => {
    const record = await plane.registry.create(nodeKind, undefined, nodeObject('n1'));
    const uid = record.object().metadata.uid ?? '';
    await plane.settle();
    assert.equal(plane.informers.nodes.byUid(uid)?.metadata.name, 'n1');
    await plane.registry.delete(nodeKind, { name: 'n1' });
    await plane.settle();
    assert.equal(plane.informers.nodes.byUid(uid), undefined);
  });

  withControlPlane('a handler that throws does not affect other handlers', async (plane) => {
    let heard = 0;
    plane.informers.nodes.onChange(() => {
      throw new Error('bug');
    });
    plane.informers.nodes.onChange(() => {
      heard += 1;
    });
    await plane.registry.create(nodeKind, undefined, nodeObject('n1'));
    await plane.settle();
    assert.equal(heard, 1);
  });

  test('after Expired they list again and emit the deletions and additions in between', async (context) => {
    const parts = { clock: systemClock, log: silentLogger };
    const dataDir = temporaryDirectory();
    const store = await openSqliteStore({ dataDir, ...parts, limits: { maxChanges: 8 } });
    const registry = createRegistry({ store, kinds: ALL_KINDS, ...parts });
    await registry.create(namespaceKind, undefined, { metadata: { name: 'default' } });
    let follows = 0;
    const follow: Registry['follow'] = (...request) => {
      follows += 1;
      return registry.follow(...request);
    };
    const informers = createInformers({ registry: { ...registry, follow }, ...parts });
    context.after(async () => {
      await informers.stop();
      await store.close();
    });
    await informers.pods.synced();
    // Wait until the informer has read this change. Its next read then comes from the buffer and not from older history.
    await informers.waitFor((await registry.create(podKind, 'default', podObject('gone'))).revision);
    const heard: string[] = [];
    informers.pods.onChange(({ previous, current }) =>
      heard.push(`${previous?.metadata.name ?? '-'}>${current?.metadata.name ?? '-'}`),
    );
    // One commit with more changes than the tail's buffer holds.
    const added = Array.from({ length: 50 }, (_, index) => `new-${index}`);
    await Promise.all([
      registry.delete(podKind, { namespace: 'default', name: 'gone' }),
      ...added.map((name) => registry.create(podKind, 'default', podObject(name))),
    ]);
    await informers.waitFor(await store.revision());
    await until(() => follows === 2);
    assert.deepEqual(heard.sort(), ['->gone', ...added.map((name) => `->${name}`), 'gone>-'].sort());
    assert.deepEqual(names(informers.pods.list()), added.toSorted());
  });
});
