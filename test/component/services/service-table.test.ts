import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MAX_NAMES_WITHOUT_VIEW } from '../../../agent/decisions/services/host-interest.js';
import { serviceViewDigest } from '../../../shared/link/service-view-digest.js';
import { settled, TableFixture } from '../../harness/services/service-table-fixture.js';
import { remoteEndpoint, serviceView } from '../../harness/services/service-views.js';

const NOTHING = { set: [], removed: [], ready: [], terminating: [], notReady: [] };
const HOUR = 3_600_000;

async function connected(): Promise<TableFixture> {
  const fixture = new TableFixture();
  await fixture.open();
  fixture.connect();
  fixture.wanted();
  return fixture;
}

describe('service table', () => {
  test('an unknown Service is requested from the hub and answered with its view', async () => {
    const fixture = await connected();
    const view = serviceView('web', { remote: [remoteEndpoint(1)] });
    const result = await fixture.resolveFromHub(view);
    assert.deepEqual(fixture.wanted(), ['default/web']);
    assert.deepEqual(result, { state: 'known', service: { state: 'known', view, local: [] } });
  });

  test('lookups at the same time share one message', async () => {
    const fixture = await connected();
    const results = ['web', 'db', 'web'].map((name) => fixture.table.resolve('default', name));
    await settled();
    assert.deepEqual(
      fixture.sent.map(({ wanted }) => wanted),
      [
        [
          ['default/web', ''],
          ['default/db', ''],
        ],
      ],
    );
    fixture.push(serviceView('web'));
    fixture.pushAbsent('default/db');
    assert.deepEqual(
      (await Promise.all(results)).map(({ state }) => state),
      ['known', 'absent', 'known'],
    );
  });

  test('a lookup without an answer of the hub ends after a second', async () => {
    const fixture = await connected();
    const result = fixture.table.resolve('default', 'web');
    let state: string | undefined;
    void result.then((found) => {
      state = found.state;
    });
    fixture.clock.advance(999);
    await settled();
    assert.equal(state, undefined);
    fixture.clock.advance(1);
    await settled();
    assert.equal(state, 'unknown');
  });

  test('a lookup in progress ends when the link is lost', async () => {
    const fixture = await connected();
    const result = fixture.table.resolve('default', 'web');
    fixture.table.onLost();
    assert.deepEqual(await result, { state: 'unknown' });
  });

  test('offline, known Services and absences are answered at once and never expire', async () => {
    const fixture = await connected();
    await fixture.resolveFromHub(serviceView('web'));
    void fixture.table.resolve('default', 'gone');
    await settled();
    fixture.pushAbsent('default/gone');
    fixture.table.onLost();
    fixture.clock.advance(24 * HOUR);
    const states = ['web', 'gone', 'new'].map((name) => fixture.table.resolve('default', name));
    assert.deepEqual(
      (await Promise.all(states)).map(({ state }) => state),
      ['known', 'absent', 'unknown'],
    );
  });

  test('a lookup of a new ClusterIP waits until its rules are in effect, for at most a second', async () => {
    const fixture = await connected();
    fixture.isApplySlow = true;
    const view = serviceView('web', { addressing: { type: 'clusterIP', address: '10.96.0.7' } });
    const lookups: string[] = [];
    void fixture.resolveFromHub(view).then(({ state }) => lookups.push(state));
    await settled();
    assert.deepEqual([lookups, fixture.applied.at(-1)], [[], ['web']]);
    fixture.finishApply?.();
    await settled();
    assert.deepEqual(lookups, ['known']);
    fixture.push({ ...view, addressing: { type: 'clusterIP', address: '10.96.0.8' } });
    void fixture.table.resolve('default', 'web').then(({ state }) => lookups.push(state));
    fixture.clock.advance(1_000);
    await settled();
    assert.deepEqual(lookups, ['known', 'known']);
  });

  test('changes of endpoints do not delay lookups', async () => {
    const fixture = await connected();
    const address = { type: 'clusterIP', address: '10.96.0.7' } as const;
    await fixture.resolveFromHub(serviceView('web', { addressing: address }));
    fixture.isApplySlow = true;
    const changes = [{ ...NOTHING, service: 'default/web', set: [remoteEndpoint(1)] }];
    fixture.table.onEndpointChanges({ kind: 'endpointChanges', changes });
    const result = await fixture.table.resolve('default', 'web');
    assert.equal(result.state === 'known' && result.service.view.remote.length, 1);
  });

  test('each change of a Service has a new revision, and a lookup has none', async () => {
    const fixture = await connected();
    let last = fixture.table.revision;
    const isNew = async (): Promise<boolean> => {
      await settled();
      const before = last;
      last = fixture.table.revision;
      return last !== before;
    };
    fixture.assignPod('web-1');
    fixture.report('web-1', true);
    await settled();
    await fixture.resolveFromHub(serviceView('web'));
    assert.equal(await isNew(), true);
    await fixture.table.resolve('default', 'web');
    assert.equal(await isNew(), false);
    const changes = [{ ...NOTHING, service: 'default/web', set: [remoteEndpoint(1)] }];
    fixture.table.onEndpointChanges({ kind: 'endpointChanges', changes });
    assert.equal(await isNew(), true);
    fixture.report('web-1', false);
    assert.equal(await isNew(), true);
    fixture.pushAbsent('default/web');
    assert.equal(await isNew(), true);
  });

  test('a change of an endpoint that the view lacks makes the host request the view again', async () => {
    const fixture = await connected();
    await fixture.resolveFromHub(serviceView('web'));
    fixture.wanted();
    const changes = [
      { ...NOTHING, service: 'default/web', ready: [7] },
      { ...NOTHING, service: 'default/other', ready: [7] },
    ];
    fixture.table.onEndpointChanges({ kind: 'endpointChanges', changes });
    await settled();
    assert.deepEqual(fixture.wanted(), ['default/web']);
  });

  test('a new session starts with all names and the digests of their views', async () => {
    const fixture = await connected();
    const view = serviceView('web', { remote: [remoteEndpoint(1)] });
    await fixture.resolveFromHub(view);
    void fixture.table.resolve('default', 'gone');
    await settled();
    fixture.pushAbsent('default/gone');
    const unrequested = serviceView('node-port', { ports: [] });
    fixture.push(unrequested);
    fixture.table.onLost();
    fixture.sent.splice(0);
    fixture.connect();
    assert.deepEqual(fixture.sent, [
      {
        kind: 'serviceInterest',
        wanted: [
          ['default/web', serviceViewDigest(view)],
          ['default/gone', ''],
          ['default/node-port', serviceViewDigest(unrequested)],
        ],
        unwanted: [],
      },
    ]);
  });

  test('a host without any interest still sends a first message', async () => {
    const fixture = new TableFixture();
    await fixture.open();
    fixture.connect();
    assert.deepEqual(fixture.sent, [{ kind: 'serviceInterest', wanted: [], unwanted: [] }]);
  });

  test('a Service that no Pod looks up for an hour is no longer wanted, and its rules are removed', async () => {
    const fixture = await connected();
    await fixture.resolveFromHub(serviceView('web'));
    await fixture.resolveFromHub(serviceView('db'));
    fixture.clock.advance(HOUR / 2);
    await fixture.table.resolve('default', 'db');
    fixture.clock.advance(HOUR / 2 + 60_000);
    await settled();
    assert.deepEqual(
      fixture.sent.flatMap(({ unwanted }) => unwanted),
      ['default/web'],
    );
    assert.deepEqual(fixture.applied.at(-1), ['db']);
  });

  test('a deleted Service is absent, and its rules are removed', async () => {
    const fixture = await connected();
    await fixture.resolveFromHub(serviceView('web'));
    fixture.pushAbsent('default/web');
    assert.deepEqual(await fixture.table.resolve('default', 'web'), { state: 'absent' });
    assert.deepEqual(fixture.applied.at(-1), []);
  });

  test('a Service that every host needed is requested when a Pod looks it up later', async () => {
    const fixture = await connected();
    fixture.push(serviceView('web'));
    fixture.pushAbsent('default/web');
    assert.deepEqual(fixture.applied.at(-1), []);
    assert.equal((await fixture.resolveFromHub(serviceView('web'))).state, 'known');
    assert.deepEqual(fixture.wanted(), ['default/web']);
  });

  test('a Service that is created after it was reported absent is answered', async () => {
    const fixture = await connected();
    const lookup = fixture.table.resolve('default', 'web');
    await settled();
    fixture.pushAbsent('default/web');
    assert.deepEqual(await lookup, { state: 'absent' });
    fixture.push(serviceView('web'));
    assert.equal((await fixture.table.resolve('default', 'web')).state, 'known');
  });

  test('an absence older than 30 s is answered at once and confirmed with one message', async () => {
    const fixture = await connected();
    void fixture.table.resolve('default', 'gone');
    await settled();
    fixture.pushAbsent('default/gone');
    fixture.wanted();
    fixture.clock.advance(30_001);
    for (let lookups = 0; lookups < 5; lookups++) {
      assert.deepEqual(await fixture.table.resolve('default', 'gone'), { state: 'absent' });
      await settled();
    }
    assert.deepEqual(fixture.wanted(), ['default/gone']);
  });

  test('a namespace that does not exist is asked for once in 30 s, whatever the name', async () => {
    const fixture = await connected();
    const first = fixture.table.resolve('com', 'example');
    await settled();
    fixture.pushAbsent('com/example', 'com/');
    assert.deepEqual(await first, { state: 'absent' });
    for (let index = 0; index < 1_000; index++)
      assert.deepEqual(await fixture.table.resolve('com', `name-${index}`), { state: 'absent' });
    await settled();
    assert.deepEqual(fixture.wanted(), ['com/example']);
    fixture.push(serviceView('shop', { namespace: 'com' }));
    const second = fixture.table.resolve('com', 'example-2');
    await settled();
    assert.deepEqual(fixture.wanted(), ['com/example-2']);
    fixture.table.onLost();
    await second;
  });

  test('random names fill neither memory nor the link', async () => {
    const fixture = await connected();
    const lookups: Promise<unknown>[] = [];
    for (let round = 0; round < 60; round++) {
      for (let index = 0; index < 50; index++)
        lookups.push(fixture.table.resolve('default', `random-${round}-${index}`));
      await settled();
      fixture.clock.advance(1_000);
    }
    await Promise.all(lookups);
    const wanted = fixture.wanted();
    assert.ok(wanted.length <= 100 + 60 * 10, `${wanted.length} names were sent`);
    fixture.table.onLost();
    fixture.connect();
    assert.equal(fixture.wanted().length, MAX_NAMES_WITHOUT_VIEW);
  });
});

describe('local endpoints of the service table', () => {
  const stateOf = async ({ table }: TableFixture) => {
    const result = await table.resolve('default', 'web');
    return result.state === 'known' ? result.service.local.map(({ state }) => state) : result.state;
  };

  test('a Pod that becomes not ready is not ready at once, also offline', async () => {
    const fixture = await connected();
    fixture.assignPod('web-1');
    fixture.report('web-1', true);
    await fixture.resolveFromHub(serviceView('web'));
    assert.deepEqual(await stateOf(fixture), ['ready']);
    fixture.table.onLost();
    fixture.report('web-1', false);
    await settled();
    assert.deepEqual(await stateOf(fixture), ['notReady']);
  });

  test('a deleted Pod leaves when it is unassigned', async () => {
    const fixture = await connected();
    fixture.assignPod('web-1');
    fixture.report('web-1', true);
    await fixture.resolveFromHub(serviceView('web'));
    fixture.assigned.delete('web-1');
    fixture.table.onPodsChanged();
    await settled();
    assert.deepEqual(await stateOf(fixture), []);
  });

  test('a repeated status applies no rules', async () => {
    const fixture = await connected();
    fixture.assignPod('web-1');
    fixture.report('web-1', true);
    await fixture.resolveFromHub(serviceView('web'));
    const { length } = fixture.applied;
    fixture.report('web-1', true);
    fixture.table.onPodsChanged();
    await settled();
    assert.equal(fixture.applied.length, length);
  });

  test('endpoints of the host carry the zone of its Node', async () => {
    const fixture = await connected();
    fixture.table.onNodeLabels({ 'topology.kubernetes.io/zone': 'shop-7' });
    fixture.assignPod('web-1');
    fixture.report('web-1', true);
    const result = await fixture.resolveFromHub(serviceView('web'));
    assert.deepEqual(result.state === 'known' && result.service.local.map(({ zone }) => zone), ['shop-7']);
  });
});
