/** `hosts?troubled=true`: only the hosts that need an operator, so that a tab of the console watches few of a large fleet. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HostIndex } from '../../../coordinator/controllers/views/host-index.js';
import { nodeKind } from '../../../coordinator/kinds/index.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { type AccessFixture, startAccessFixture } from '../../harness/api/access-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { openWatch } from '../../harness/api/watch-lines.js';

const HOSTS = '/apis/fleet.everynode.dev/v1/hosts';
const PRESSURE = { type: 'DiskPressure', status: 'True' };
const READY = { type: 'Ready', status: 'True' };

let fixture: AccessFixture;
before(async () => {
  fixture = await startAccessFixture(({ informers }) => ({
    hosts: new HostIndex({
      ...{ informers, clock: systemClock },
      liveness: { awaitingSince: () => undefined, onChange: () => undefined },
    }),
  }));
  for (const name of ['n1', 'n2']) {
    await fixture.registry.create(nodeKind, undefined, { metadata: { name } });
    await settle(name, READY);
  }
  await settle('n2', READY, PRESSURE);
});
after(() => fixture.stop());

/** Stores the conditions of a Node as its agent would report them. */
async function settle(name: string, ...conditions: object[]): Promise<void> {
  const answer = await call(fixture.api, `PATCH /api/v1/nodes/${name}/status`, {
    body: { status: { conditions } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  assert.equal(answer.code, 200, answer.text);
  await fixture.settled();
}

test('a list has only hosts that need an operator, and another value than true and false is refused', async () => {
  const list = await call(fixture.api, `GET ${HOSTS}?troubled=true`);
  const names = list.json<{ items: { metadata: { name: string } }[] }>().items;
  assert.deepEqual(
    names.map(({ metadata }) => metadata.name),
    ['n2'],
  );
  const refused = await call(fixture.api, `GET ${HOSTS}?troubled=yes`);
  assert.equal(refused.code, 400);
  assert.match(refused.text, /troubled: .*yes.* must be true or false/);
});

test('a watch reports a host when its trouble begins, and deletes it when the trouble is over', async () => {
  const watch = await openWatch(fixture.api, `${HOSTS}?watch=true&troubled=true`);
  const next = async () => {
    const event = await watch.next();
    return `${event?.type} ${event?.object.metadata.name ?? ''}`;
  };
  assert.equal(await next(), 'ADDED n2');
  assert.equal(await next(), 'BOOKMARK ');
  await settle('n1', READY, PRESSURE);
  assert.equal(await next(), 'ADDED n1');
  await settle('n1', READY);
  assert.equal(await next(), 'DELETED n1');
  watch.close();
});
