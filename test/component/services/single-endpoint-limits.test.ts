/** Names of single endpoints must leave room for Services. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  MAX_NAMES_WITHOUT_VIEW,
  MAX_SERVICES,
  MAX_SINGLE_ENDPOINTS,
} from '../../../agent/decisions/services/host-interest.js';
import { endpointViewName } from '../../../shared/kube/services/service-view.js';
import { settled, TableFixture } from '../../harness/services/service-table-fixture.js';
import { remoteEndpoint, serviceView } from '../../harness/services/service-views.js';

const REQUEST_MS = 100;
const BURST = 100;

async function connected(): Promise<TableFixture> {
  const fixture = new TableFixture();
  await fixture.open();
  fixture.connect();
  fixture.wanted();
  return fixture;
}

function endpointView(index: number) {
  const addressing = { type: 'headless' } as const;
  return serviceView(endpointViewName('web', `node-${index}`), {
    addressing,
    remote: [remoteEndpoint(index)],
  });
}

/** Looks a Service up that no Pod looked up before. Returns what the hub is asked for. */
async function askedForNew(fixture: TableFixture): Promise<string[]> {
  void fixture.table.resolve('default', 'new');
  await settled();
  return fixture.wanted();
}

describe('limits of single endpoints', () => {
  test('a host with the most endpoints still asks for a new Service', async () => {
    const fixture = await connected();
    for (let index = 0; index < MAX_SINGLE_ENDPOINTS; index++) fixture.push(endpointView(index));
    assert.deepEqual(await askedForNew(fixture), ['default/new']);
  });

  test('a host with the most Services asks for an endpoint, but for no other Service', async () => {
    const fixture = await connected();
    for (let index = 0; index < MAX_SERVICES; index++) fixture.push(serviceView(`web-${index}`));
    assert.deepEqual(await askedForNew(fixture), []);
    void fixture.table.resolve('default', endpointViewName('web-1', 'node-1'));
    await settled();
    assert.deepEqual(fixture.wanted(), ['default/web-1/node-1']);
  });

  test('one endpoint too many ends the interest in the one that was looked up least recently', async () => {
    const fixture = await connected();
    for (let index = 0; index < MAX_SINGLE_ENDPOINTS; index++) fixture.push(endpointView(index));
    fixture.clock.advance(REQUEST_MS);
    for (let index = 0; index < MAX_SINGLE_ENDPOINTS; index++)
      if (index !== 5) await fixture.table.resolve('default', endpointView(index).name);
    void fixture.table.resolve('default', endpointViewName('web', 'other'));
    await settled();
    assert.deepEqual(
      fixture.sent.map(({ unwanted }) => unwanted),
      [['default/web/node-5']],
    );
    assert.deepEqual(fixture.wanted(), ['default/web/other']);
  });

  test('random hostnames use up no requests of Services', async () => {
    const fixture = await connected();
    for (let index = 0; index < BURST + 50; index++)
      void fixture.table.resolve('default', endpointViewName('web', `random-${index}`));
    await settled();
    assert.equal(fixture.wanted().length, BURST);
    assert.deepEqual(await askedForNew(fixture), ['default/new']);
  });

  test('random hostnames do not end the wait for an absent Service', async () => {
    const fixture = await connected();
    void fixture.table.resolve('default', 'later');
    await settled();
    fixture.pushAbsent(...fixture.wanted());
    for (let index = 0; index < MAX_NAMES_WITHOUT_VIEW + 50; index++) {
      fixture.clock.advance(REQUEST_MS);
      void fixture.table.resolve('default', endpointViewName('web', `random-${index}`));
      await settled();
    }
    const dropped = fixture.sent.flatMap(({ unwanted }) => unwanted);
    assert.equal(dropped.length, 50);
    assert.ok(!dropped.includes('default/later'));
  });
});
