import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { podKind } from '../../../coordinator/kinds/index.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { PodStatus } from '../../../shared/kube/pods/pod-types.js';
import { joinNode } from '../../harness/controllers/control-plane-fixture.js';
import { type ServiceFixture, withServices } from '../../harness/controllers/service-fixture.js';
import { podObject } from '../../harness/objects/object-builders.js';

const PODS = 350;

/** Ready Pods `web-0` and so on. They are created together, because a fixture's Pod settles everything. */
async function createPods({ registry, clock, settle }: ServiceFixture): Promise<void> {
  const lastTransitionTime = toTimestamp(clock.now());
  for (let index = 0; index < PODS; index += 1) {
    const name = `web-${index}`;
    const spec = { nodeName: 'n1', hostNetwork: true };
    await registry.create(podKind, 'default', podObject(name, spec, { labels: { app: 'web' } }));
    const ip = `10.0.${index >> 8}.${index & 255}`;
    const status: PodStatus = {
      phase: 'Running',
      ...{ hostIP: ip, podIPs: [{ ip }] },
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }],
    };
    await registry.writeStatus(podKind, { namespace: 'default', name }, () => status);
  }
  await settle();
}

/** Counts reads of Pods, by name and of a whole namespace. */
function countReads({ informers: { pods } }: ServiceFixture): { byName: number; lists: number } {
  const reads = { byName: 0, lists: 0 };
  const get = pods.get.bind(pods);
  const indexed = pods.indexed.bind(pods);
  Object.assign(pods, {
    get: (ref: Parameters<typeof get>[0]) => {
      reads.byName += 1;
      return get(ref);
    },
    indexed: (...args: Parameters<typeof indexed>) => {
      reads.lists += 1;
      return indexed(...args);
    },
  });
  return reads;
}

describe('cost of endpoints', () => {
  withServices('a flapping Pod reads itself and writes one slice', async (fixture) => {
    await joinNode(fixture, 'n1');
    await fixture.service('web');
    await createPods(fixture);
    await fixture.gather();
    await fixture.gather();
    assert.deepEqual(
      fixture
        .slices()
        .map(({ endpoints }) => endpoints?.length)
        .sort(),
      [100, 100, 100, 50],
    );
    let writes = 0;
    fixture.informers.endpointSlices.onChange(({ previous }) => {
      if (previous) writes += 1;
    });
    await fixture.setReady('web-123', 'False');
    const reads = countReads(fixture);
    await fixture.gather();
    assert.equal(fixture.ready().length, PODS - 1);
    assert.deepEqual({ ...reads, writes }, { byName: 1, lists: 0, writes: 1 });
  });

  withServices('a report that changes no endpoint writes nothing', async (fixture) => {
    await joinNode(fixture, 'n1');
    await fixture.service('web');
    await fixture.pod('web-1', { app: 'web', node: 'n1' });
    await fixture.gather();
    const reads = countReads(fixture);
    await fixture.setStatus('web-1', { message: 'restarted' });
    const before = await fixture.store.revision();
    await fixture.gather();
    assert.equal(await fixture.store.revision(), before);
    assert.deepEqual(reads, { byName: 0, lists: 0 });
  });
});
