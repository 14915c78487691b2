/** The hosts of a DaemonJob, and what HostValues give to hosts, by the API. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DaemonJobHostView } from '../../../coordinator/controllers/views/daemonjob-hosts.js';
import { EffectiveValueView } from '../../../coordinator/controllers/views/effective-values.js';
import { daemonJobOwner, daemonJobPod } from '../../../coordinator/decisions/daemonjobs/daemonjob-pod.js';
import {
  daemonJobKind,
  daemonJobResultKind,
  hostValuesKind,
  podKind,
} from '../../../coordinator/kinds/index.js';
import type {
  DaemonJobHosts,
  DaemonJobPreview,
  JobsOfHost,
} from '../../../shared/kube/fleet/daemonjob-host-types.js';
import type {
  HostsByValue,
  ValueCounts,
  ValuesOfHost,
} from '../../../shared/kube/fleet/effective-values-types.js';
import type { HostValuesSpec } from '../../../shared/kube/host-values/host-values-types.js';
import type { Pod, PodStatus } from '../../../shared/kube/pods/pod-types.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import {
  type ControlPlane,
  joinNode,
  setReady,
  startControlPlane,
} from '../../harness/controllers/control-plane-fixture.js';

const FLEET = '/apis/fleet.everynode.dev/v1';
const JOBS = `${FLEET}/namespaces/default/daemonjobs`;
const VALUES = `${FLEET}/effectivevalues`;

let plane: ControlPlane;
let api: TestApi;

/** `flash` has results on n1 and n2; n3 has not started, n4 is offline. n1 and n2 are in kiel. */
before(async () => {
  plane = await startControlPlane();
  for (const name of ['n1', 'n2', 'n3', 'n4'])
    await joinNode(plane, name, { labels: { site: name < 'n3' ? 'kiel' : 'bremen' } });
  await setReady(plane, 'n4', 'Unknown');
  const template = { spec: { containers: [{ name: 'c', image: 'flash:1' }] } };
  const spec = { template, backoffLimit: 0 };
  const job = (
    await plane.registry.create(daemonJobKind, 'default', { metadata: { name: 'flash' }, spec })
  ).object();
  await storeResult(job, 'n1', { phase: 'Succeeded', exitCode: 0 });
  await storeResult(job, 'n2', { phase: 'Failed', exitCode: 3, failures: 1, message: 'no space' });
  await storeValues('all', { priority: -1, values: { color: 'red', size: 'S' } });
  await storeValues('kiel', { nodeSelector: { matchLabels: { site: 'kiel' } }, values: { color: 'blue' } });
  await storeValues('named', {
    hosts: { n1: { store: '1' }, n3: { color: 'green' } },
    secrets: { token: { name: 'bank', key: 'pin' } },
  });
  await storeValues('rival', { hosts: { n3: { color: 'black' } } });
  await plane.settle();
  api = await startTestApi({
    registry: plane.registry,
    jobHosts: new DaemonJobHostView(plane),
    effectiveValues: new EffectiveValueView(plane),
  });
});

after(async () => {
  await api.stop();
  await plane.stop();
});

type Owner = Parameters<typeof daemonJobOwner>[0];

async function storeResult(job: Owner, nodeName: string, over: object): Promise<void> {
  const metadata = { name: `flash.${nodeName}`, ownerReferences: [daemonJobOwner(job)] };
  const body = { metadata, nodeName, run: 1, attempts: 1, failures: 0, ...over };
  await plane.registry.create(daemonJobResultKind, 'default', body);
}

async function storeValues(name: string, spec: HostValuesSpec): Promise<void> {
  await plane.registry.create(hostValuesKind, 'default', { metadata: { name }, spec });
}

async function get<T>(path: string): Promise<T> {
  const answer = await call(api, `GET ${path}`);
  assert.equal(answer.code, 200, answer.text);
  return answer.json<T>();
}

test('hosts that need an operator come first, and pages continue in this order', async () => {
  const { hosts, states, total } = await get<DaemonJobHosts>(`${JOBS}/flash/hosts`);
  assert.deepEqual(
    hosts.map(({ node, state }) => `${node} ${state}`),
    ['n2 Failed', 'n4 Offline', 'n3 Waiting', 'n1 Succeeded'],
  );
  assert.deepEqual([hosts[0]?.exitCode, hosts[0]?.message, total], [3, 'no space', 4]);
  assert.ok(states.every(({ count, nodes }) => count === 1 && nodes === undefined));
  const first = await get<DaemonJobHosts>(`${JOBS}/flash/hosts?limit=3`);
  const rest = await get<DaemonJobHosts>(`${JOBS}/flash/hosts?limit=3&continue=${first.continue}`);
  assert.deepEqual([rest.hosts.map(({ node }) => node), rest.continue], [['n1'], undefined]);
});

test('the map gets all names and no rows, and a filter selects states', async () => {
  const map = await get<DaemonJobHosts>(`${JOBS}/flash/hosts?names=true&limit=0`);
  assert.deepEqual([map.hosts, map.states[0]], [[], { state: 'Failed', count: 1, nodes: ['n2'] }]);
  const some = await get<DaemonJobHosts>(`${JOBS}/flash/hosts?state=Waiting,Offline`);
  assert.deepEqual([some.total, some.hosts.length], [2, 2]);
});

test('a host that holds its Pod back says why, and can be asked for by name', async () => {
  const job = plane.informers.daemonJobs.get({ namespace: 'default', name: 'flash' }) ?? assert.fail();
  const pod = daemonJobPod(job, 'n3', 0, { maxLockSeconds: 60 });
  const stored = (await plane.registry.create<Pod>(podKind, 'default', pod)).object();
  await plane.registry.writeStatus(
    podKind,
    stored.metadata,
    (): PodStatus => ({
      phase: 'Pending',
      conditions: [
        {
          type: 'PodReadyToStartContainers',
          status: 'False',
          reason: 'UpdateLocked',
          message: 'drawer open',
        },
      ],
    }),
  );
  await plane.settle();
  const { hosts, total } = await get<DaemonJobHosts>(`${JOBS}/flash/hosts?node=n3`);
  const row = { node: 'n3', state: 'Waiting', pod: 'flash.n3.0' };
  assert.deepEqual([hosts, total], [[{ ...row, reason: 'UpdateLocked', message: 'drawer open' }], 1]);
  assert.equal((await get<DaemonJobHosts>(`${JOBS}/flash/hosts?node=n9`)).total, 0);
  await plane.registry.delete(podKind, stored.metadata, { gracePeriodSeconds: 0 });
});

for (const [query, message] of [
  ['state=Broken', 'state: "Broken" is not one of Failed,'],
  ['continue=n1', 'continue: "" is not one of Failed,'],
  ['host=n1', 'unknown parameter "host"'],
] as const)
  test(`the query ${query} is refused with a reason`, async () => {
    const answer = await call(api, `GET ${JOBS}/flash/hosts?${query}`);
    assert.equal(answer.code, 400);
    assert.ok(answer.json<{ message: string }>().message.includes(message));
  });

test('a preview counts eligible hosts, stores nothing, and fails like the creation', async () => {
  const preview = (spec: object) =>
    call(api, `POST ${FLEET}/namespaces/default/daemonjobpreviews`, {
      body: { metadata: { name: 'new' }, spec },
    });
  const pod = { containers: [{ name: 'c', image: 'a:1' }] };
  const all = await preview({ template: { spec: pod } });
  const { eligible, hosts, offline } = all.json<DaemonJobPreview>();
  assert.deepEqual([all.code, eligible, hosts, offline], [200, 4, 4, 1]);
  const some = await preview({ template: { spec: { ...pod, nodeSelector: { site: 'kiel' } } } });
  assert.deepEqual(some.json<DaemonJobPreview>().nodes, ['n1', 'n2']);
  assert.equal((await call(api, `GET ${JOBS}/new`)).code, 404);
  const bad = await preview({ template: { spec: pod }, parallelism: 'many' });
  assert.equal(bad.code, 422);
  assert.match(bad.json<{ message: string }>().message, /spec\.parallelism/);
});

test('a host shows each of its jobs, and only those that the caller may read', () => {
  const view = new DaemonJobHostView(plane);
  const shown = (answer: JobsOfHost) => answer.jobs.map(({ name, state }) => `${name} ${state}`);
  assert.deepEqual(shown(view.jobsOn('n2', () => true)), ['flash Failed']);
  assert.deepEqual(shown(view.jobsOn('n3', () => true)), ['flash Waiting']);
  assert.deepEqual(shown(view.jobsOn('n2', () => false)), []);
});

test('each value of a host names its object and what that object overrides', async () => {
  const { values } = await get<ValuesOfHost>(`${VALUES}?node=n1`);
  const texts = values.map((value) =>
    value.state === 'Effective'
      ? `${value.key}=${JSON.stringify(value.value)} ${value.from} ${value.overridden.map(({ from }) => from)}`
      : value.state,
  );
  assert.deepEqual(texts, [
    'color="blue" kiel all',
    'size="S" all ',
    'store="1" named ',
    'token={"secretKeyRef":{"name":"bank","key":"pin"}} named ',
  ]);
});

test('a contradiction is shown with both objects, on the host and by key', async () => {
  const { values } = await get<ValuesOfHost>(`${VALUES}?node=n3`);
  const color = values.find(({ key }) => key === 'color');
  assert.ok(color?.state === 'Conflict');
  assert.match(color.message, /named and rival have the same priority/);
  const { conflicts } = await get<HostsByValue>(`${VALUES}?key=color`);
  assert.deepEqual([conflicts.count, conflicts.nodes], [1, ['n3']]);
});

test('hosts are grouped by value, one value can be selected, and hosts without one are counted', async () => {
  const own = `${FLEET}/namespaces/default/effectivevalues`;
  const { groups } = await get<HostsByValue>(`${own}?key=color`);
  assert.deepEqual(
    groups.map(({ value, nodes, from }) => [value, nodes, from]),
    [
      ['blue', ['n1', 'n2'], ['kiel']],
      ['red', ['n4'], ['all']],
    ],
  );
  const red = await get<HostsByValue>(`${own}?key=color&value=red`);
  assert.deepEqual(
    red.groups.map(({ nodes }) => nodes),
    [['n4']],
  );
  const { missing } = await get<HostsByValue>(`${own}?key=store`);
  assert.deepEqual(missing, { count: 3, nodes: ['n2', 'n3', 'n4'] });
});

test('hosts are counted by object and by key', async () => {
  const { hosts, objects, keys } = await get<ValueCounts>(VALUES);
  assert.equal(hosts, 4);
  assert.deepEqual(Object.fromEntries(objects.map((each) => [each.name, each.hosts])), {
    ...{ all: 4, kiel: 2, named: 4, rival: 1 },
  });
  assert.deepEqual(Object.fromEntries(keys.map((each) => [each.key, each.hosts])), {
    ...{ color: 4, size: 4, store: 1, token: 4 },
  });
});

test('counts are shared by all pages for some seconds, and computed anew after a change of HostValues', async () => {
  let visits = 0;
  const { nodes, hostValues } = plane.informers;
  const counted = new Proxy(nodes, {
    get: (target, name) => {
      if (name === 'list') visits += 1;
      const found: unknown = Reflect.get(target, name, target);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
  const { clock } = plane;
  const view = new EffectiveValueView({ informers: { nodes: counted, hostValues }, clock });
  const [one, other] = await Promise.all([view.counts(undefined), view.counts(undefined)]);
  assert.equal(one, other);
  assert.equal(visits, 1);
  await view.counts('default');
  assert.equal(visits, 2, 'another namespace has other counts');
  clock.advance(14_999);
  await view.counts(undefined);
  assert.equal(visits, 2);
  clock.advance(1);
  await view.counts(undefined);
  assert.equal(visits, 3, 'labels of nodes may have changed');
  await storeValues('late', { hosts: { n4: { late: 'yes' } } });
  await plane.settle();
  const { keys } = await view.counts(undefined);
  assert.equal(keys.find(({ key }) => key === 'late')?.hosts, 1);
});

for (const [query, code] of [
  ['node=absent', 404],
  ['node=', 400],
  ['key=a&node=n1', 400],
  ['value=a', 400],
] as const)
  test(`effective values refuse ${query} with ${code}`, async () => {
    assert.equal((await call(api, `GET ${VALUES}?${query}`)).code, code);
  });
