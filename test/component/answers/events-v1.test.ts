/** Events through events.k8s.io/v1 and v1 at once, over HTTPS. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventKind } from '../../../coordinator/kinds/index.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { openWatch } from '../../harness/api/watch-lines.js';

let api: TestApi;
before(async () => {
  api = await startTestApi();
});
after(() => api.stop());

const NEW = '/apis/events.k8s.io/v1/namespaces/default/events';
const OLD = '/api/v1/namespaces/default/events';
const TIME = '2026-01-31T09:00:00.000000Z';
const POD = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web' };

const newEvent = (name: string, more: object = {}) => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name },
  regarding: POD,
  note: 'It started.',
  reason: 'Started',
  type: 'Normal',
  action: 'Starting',
  eventTime: TIME,
  reportingController: 'example.dev/controller',
  reportingInstance: 'controller-1',
  ...more,
});

const oldEvent = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, namespace: 'default' },
  involvedObject: POD,
  message: 'It stopped.',
  reason: 'Stopped',
  type: 'Warning',
  source: { component: 'example', host: 'n1' },
  firstTimestamp: '2026-01-31T08:00:00Z',
  lastTimestamp: '2026-01-31T09:00:00Z',
  count: 3,
});

async function send<T = Record<string, unknown>>(line: string, body?: unknown, type?: string): Promise<T> {
  const answer = await call(api, line, { body, ...(type ? { headers: { 'content-type': type } } : {}) });
  assert.ok(answer.code < 300, answer.text);
  return answer.json<T>();
}

const names = (list: { items: { metadata: { name: string } }[] }) =>
  list.items.map(({ metadata }) => metadata.name);

test('an Event created as events.k8s.io/v1 is read as both versions with its fields', async () => {
  const created = await send(
    `POST ${NEW}`,
    newEvent('both', { series: { count: 2, lastObservedTime: TIME } }),
  );
  assert.equal(created.apiVersion, 'events.k8s.io/v1');
  const { metadata, ...old } = await send(`GET ${OLD}/both`);
  assert.deepEqual(old, {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: POD,
    message: 'It started.',
    reason: 'Started',
    type: 'Normal',
    action: 'Starting',
    eventTime: TIME,
    reportingComponent: 'example.dev/controller',
    reportingInstance: 'controller-1',
    series: { count: 2, lastObservedTime: TIME },
  });
  const again = await send(`GET ${NEW}/both`);
  assert.deepEqual(again, created);
  assert.deepEqual(again.metadata, metadata);
});

test('an Event created as v1 has deprecated fields in events.k8s.io/v1', async () => {
  await send(`POST ${OLD}`, oldEvent('older'));
  const { metadata: _, ...event } = await send(`GET ${NEW}/older`);
  assert.deepEqual(event, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    regarding: POD,
    note: 'It stopped.',
    reason: 'Stopped',
    type: 'Warning',
    deprecatedSource: { component: 'example', host: 'n1' },
    deprecatedFirstTimestamp: '2026-01-31T08:00:00Z',
    deprecatedLastTimestamp: '2026-01-31T09:00:00Z',
    deprecatedCount: 3,
    eventTime: null,
  });
});

test('lists have pages, and field selectors with the names of this version', async () => {
  const found = async (selector: string) =>
    names(await send(`GET ${NEW}?fieldSelector=${encodeURIComponent(selector)}`));
  await send(`POST ${NEW}`, newEvent('other', { regarding: { ...POD, name: 'other-pod' }, reason: 'Odd' }));
  assert.deepEqual(await found('regarding.name=other-pod'), ['other']);
  assert.deepEqual(await found('reason=Odd,reportingController=example.dev/controller'), ['other']);
  assert.deepEqual(await found('metadata.name=other'), ['other']);
  assert.deepEqual(await found('type=Warning'), ['older']);
  const wrong = await call(api, `GET ${NEW}?fieldSelector=involvedObject.name%3Dx`);
  assert.deepEqual(
    [wrong.code, wrong.json().message],
    [400, 'field label not supported: involvedObject.name'],
  );
  const first = await send<{ metadata: { continue: string }; items: { metadata: { name: string } }[] }>(
    `GET ${NEW}?limit=2`,
  );
  const token = encodeURIComponent(first.metadata.continue);
  const second = await send<typeof first>(`GET ${NEW}?limit=2&continue=${token}`);
  assert.deepEqual([...names(first), ...names(second)], ['both', 'older', 'other']);
  assert.equal(Reflect.get(first, 'apiVersion'), 'events.k8s.io/v1');
});

test('a watch sends Events of both versions in this version', async () => {
  const { metadata } = await send<{ metadata: { resourceVersion: string } }>(`GET ${NEW}`);
  const watch = await openWatch(api, `${NEW}?watch=1&resourceVersion=${metadata.resourceVersion}`);
  await send(`POST ${OLD}`, oldEvent('watched'));
  const added = await watch.next();
  assert.deepEqual([added?.type, Reflect.get(added?.object ?? {}, 'note')], ['ADDED', 'It stopped.']);
  await send(`DELETE ${NEW}/watched`);
  const deleted = await watch.next();
  assert.deepEqual([deleted?.type, deleted?.object.metadata.name], ['DELETED', 'watched']);
  assert.equal(Reflect.get(deleted?.object ?? {}, 'apiVersion'), 'events.k8s.io/v1');
  watch.close();
  assert.equal((await call(api, `GET ${OLD}/watched`)).code, 404);
});

test('a recorder counts repetitions with a strategic merge patch of series', async () => {
  await send(`POST ${NEW}`, newEvent('repeated'));
  const series = { count: 5, lastObservedTime: TIME };
  const type = 'application/strategic-merge-patch+json';
  const patched = await send(`PATCH ${NEW}/repeated`, { series }, type);
  assert.deepEqual([patched.series, patched.note], [series, 'It started.']);
  const stored = (await api.registry.get(eventKind, { namespace: 'default', name: 'repeated' })).object();
  assert.deepEqual([stored.apiVersion, stored.series, stored.message], ['v1', series, 'It started.']);
});

test('labels of an Event that was created as v1 can be patched through both versions', async () => {
  await send(`POST ${OLD}`, oldEvent('labelled'));
  const type = 'application/merge-patch+json';
  await send(`PATCH ${NEW}/labelled?fieldManager=a`, { metadata: { labels: { a: '1' } } }, type);
  await send(`PATCH ${OLD}/labelled?fieldManager=b`, { metadata: { labels: { b: '2' } } }, type);
  const both = await send<{ metadata: { labels: object }; note: string }>(`GET ${NEW}/labelled`);
  assert.deepEqual([both.metadata.labels, both.note], [{ a: '1', b: '2' }, 'It stopped.']);
  await send(`DELETE ${OLD}/labelled`);
});

const REFUSED: [string, object, RegExp][] = [
  ['without eventTime', { eventTime: null }, /eventTime: Required value/],
  ['with an unknown type', { type: 'Odd' }, /type: Invalid value: "": has invalid value: Odd/],
  ['with a deprecated count', { deprecatedCount: 1 }, /count: Invalid value: "": needs to be unset/],
  ['without a controller', { reportingController: '' }, /reportingController: Required value/],
  ['with a series of one', { series: { count: 1, lastObservedTime: TIME } }, /series.count: .*at least 2/],
];

for (const [what, more, message] of REFUSED) {
  test(`an events.k8s.io/v1 Event ${what} is refused`, async () => {
    const answer = await call(api, `POST ${NEW}`, { body: newEvent('refused', more) });
    assert.equal(answer.code, 422, answer.text);
    assert.match(String(answer.json().message), message);
  });
}

test('the note of an Event cannot change in this version', async () => {
  const type = 'application/merge-patch+json';
  const answer = await call(api, `PATCH ${NEW}/both`, {
    body: { note: 'Another.' },
    headers: { 'content-type': type },
  });
  assert.equal(answer.code, 422, answer.text);
  assert.match(String(answer.json().message), /message: Invalid value: "Another.": field is immutable/);
});

test('a field of v1 is unknown in this version', async () => {
  const body = { ...newEvent('strict'), message: 'x' };
  const answer = await call(api, `POST ${NEW}?fieldValidation=Strict`, { body });
  assert.equal(answer.code, 400);
  assert.match(String(answer.json().message), /unknown field "message"/);
});

test('a deletion of all Events of this version deletes all stored ones', async () => {
  await send(`DELETE ${NEW}`);
  assert.deepEqual(names(await send(`GET ${OLD}`)), []);
});
