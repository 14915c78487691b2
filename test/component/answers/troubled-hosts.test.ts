/** `hosts?troubled=true`: only the hosts that need an operator, so that a tab of the console watches few of a large fleet. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HostIndex } from '../../../coordinator/controllers/views/host-index.js';
import type { Informers } from '../../../coordinator/informers/informer.js';
import { nodeKind, secretKind } from '../../../coordinator/kinds/index.js';
import {
  credentialSecretName,
  ENROLMENT_NAMESPACE,
} from '../../../shared/kube/nodes/node-credential-secret.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { type AccessFixture, startAccessFixture } from '../../harness/api/access-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { openWatch } from '../../harness/api/watch-lines.js';
import { until } from '../../harness/basics/wait-until.js';

const HOSTS = '/apis/fleet.everynode.dev/v1/hosts';
const PRESSURE = { type: 'DiskPressure', status: 'True' };
const READY = { type: 'Ready', status: 'True' };

const DAY_MS = 86_400_000;
const liveness = { awaitingSince: () => undefined, onChange: () => undefined };

let fixture: AccessFixture;
let informers: Informers;
before(async () => {
  fixture = await startAccessFixture((deps) => {
    informers = deps.informers;
    return { hosts: new HostIndex({ informers, clock: systemClock, liveness }) };
  });
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

test('a watch reports a host whose certificate comes close to its expiry, although nothing else changes', async () => {
  const start = Date.parse('2026-01-01T00:00:00Z');
  const clock = new ManualClock(start);
  const index = new HostIndex({ informers, clock, liveness });
  const expireIn = async (name: string, days: number) => {
    const end = Buffer.from(new Date(start + days * DAY_MS).toISOString()).toString('base64');
    const metadata = { name: credentialSecretName(name) };
    await fixture.registry.create(secretKind, ENROLMENT_NAMESPACE, { metadata, data: { 'not-after': end } });
  };
  await expireIn('n1', 100);
  await expireIn('n2', 60);
  await fixture.settled();
  await until(() => informers.secrets.size >= 2, { what: 'the certificates' });
  const reported: string[] = [];
  const { first, leave } = await index.watch((changed) => {
    for (const { name, isTroubled } of changed) reported.push(`${name} ${isTroubled}`);
  });
  assert.deepEqual(
    first.map(({ name, isTroubled }) => `${name} ${isTroubled}`),
    ['n1 false', 'n2 true'],
  );
  clock.advance(86 * DAY_MS - 1);
  await index.list();
  assert.deepEqual(reported, []);
  clock.advance(1);
  await index.list();
  assert.deepEqual(reported, ['n1 true']);
  leave();
});
