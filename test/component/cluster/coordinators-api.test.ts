/** `coordinators` of the fleet's API group: one coordinator, several of them, and the health check of etcd. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import type { LeadershipProof } from '../../../coordinator/api/ports.js';
import { addClusterMetrics } from '../../../coordinator/metrics/cluster-metrics.js';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { openWatch } from '../../harness/api/watch-lines.js';

const PATH = '/apis/fleet.everynode.dev/v1/coordinators';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

function coordinator(name: string, status: Partial<Coordinator['status']>): Coordinator {
  return {
    ...{ kind: 'Coordinator', apiVersion: 'fleet.everynode.dev/v1' },
    metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { server: `https://${name}:7443`, memberId: name },
    status: { role: 'Follower', version: '1.0.0', lagRecords: 3, problems: [], conditions: [], ...status },
  };
}

const ETCD = [
  { endpoint: 'https://e1:2379', version: '3.5.9', isLeader: true, dbBytes: 4_096, alarms: [] },
  { endpoint: 'https://e2:2379', error: 'connection refused' },
];
const DOWN = { severity: 'error', reason: 'Down', message: 'c is down.' } as const;

/** Three coordinators; `list` can be changed. */
function threeCoordinators() {
  const source = {
    coordinators: [
      coordinator('a', {
        role: 'Leader',
        lagRecords: 0,
        term: 7,
        clockSkewSeconds: 0,
        etcd: ETCD,
        logRecords: 40,
      }),
      coordinator('b', { clockSkewSeconds: 12 }),
      coordinator('c', { role: 'Down', problems: [DOWN] }),
    ],
    list: async () => source.coordinators,
  };
  return source;
}

async function withApi(change: Parameters<typeof startTestApi>[0], use: (api: TestApi) => Promise<void>) {
  const api = await startTestApi(change);
  try {
    await use(api);
  } finally {
    await api.stop();
  }
}

interface TableAnswer {
  columnDefinitions: { name: string; priority: number }[];
  rows: { cells: unknown[] }[];
}

test('a single coordinator is one row that leads', async () => {
  const facts = {
    server: 'https://one:7443',
    authority: '',
    serving: '',
    hasRelease: false,
    approval: false,
  };
  await withApi({ joinFacts: async () => facts }, async (api) => {
    const { items } = (await call(api, `GET ${PATH}`)).json() as { items: Coordinator[] };
    assert.equal(items.length, 1);
    assert.equal(items[0]?.status.role, 'Leader');
    assert.equal(items[0]?.spec.server, 'https://one:7443');
    const one = await call(api, `GET ${PATH}/${items[0]?.metadata.name}`);
    assert.equal(one.code, 200);
  });
});

test('several coordinators are listed, read by name and shown as a table', async () => {
  await withApi({ coordinators: threeCoordinators() }, async (api) => {
    const list = (await call(api, `GET ${PATH}`)).json() as { kind: string; items: Coordinator[] };
    assert.equal(list.kind, 'CoordinatorList');
    assert.deepEqual(
      list.items.map(({ status }) => status.role),
      ['Leader', 'Follower', 'Down'],
    );
    const one = (await call(api, `GET ${PATH}/b`)).json() as Coordinator;
    assert.equal(one.metadata.name, 'b');
    const table = (
      await call(api, `GET ${PATH}`, { headers: { accept: TABLE } })
    ).json() as unknown as TableAnswer;
    const shown = table.columnDefinitions.map(({ name, priority }) => `${name}${priority}`);
    assert.deepEqual(shown, [
      'Name0',
      'Role0',
      'Lag0',
      'Version0',
      'Server0',
      'Age0',
      'Term1',
      'Clock1',
      'Problem1',
    ]);
    const cells = table.rows.map(({ cells: row }) => [...row.slice(0, 5), ...row.slice(6)].join(' '));
    assert.deepEqual(cells, [
      'a Leader 0 1.0.0 https://a:7443 7 ok <none>',
      'b Follower 3 1.0.0 https://b:7443 <none> +12s <none>',
      'c Down 3 1.0.0 https://c:7443 <none> <unknown> c is down.',
    ]);
  });
});

test('clients can create and change no coordinator, and an unknown name is not found', async () => {
  await withApi({ coordinators: threeCoordinators() }, async (api) => {
    for (const request of [`POST ${PATH}`, `DELETE ${PATH}`, `PUT ${PATH}/a`, `PATCH ${PATH}/a`])
      assert.equal((await call(api, request)).code, 405, request);
    const { code, text } = await call(api, `GET ${PATH}/x`);
    assert.equal(code, 404);
    assert.match(text, /coordinators.fleet.everynode.dev \\"x\\" not found/);
  });
});

test('a watch starts with all coordinators and sends those that change or are removed', async () => {
  const cluster = threeCoordinators();
  await withApi({ coordinators: cluster }, async (api) => {
    const watch = await openWatch(api, `${PATH}?watch=true`);
    const next = async () => {
      const event = await watch.next();
      return `${event?.type} ${event?.object.metadata.name ?? ''}`.trim();
    };
    assert.deepEqual(
      [await next(), await next(), await next(), await next()],
      ['ADDED a', 'ADDED b', 'ADDED c', 'BOOKMARK'],
    );
    const [leader, follower] = cluster.coordinators;
    assert.ok(leader && follower);
    cluster.coordinators = [leader, { ...follower, status: { ...follower.status, lagRecords: 0 } }];
    assert.deepEqual([await next(), await next()], ['MODIFIED b', 'DELETED c']);
    watch.close();
  });
});

const PASSED = '[+]ping ok\n[+]store ok\n[+]informer-sync ok\n';
const PROOFS: [state: LeadershipProof['state'], path: string, code: number, text: RegExp | string][] = [
  ['proven', '/readyz', 200, 'ok'],
  ['proven', '/readyz/etcd', 200, 'ok'],
  ['proven', '/readyz?verbose', 200, `${PASSED}[+]etcd ok\nreadyz check passed\n`],
  [
    'unproven',
    '/readyz',
    500,
    `${PASSED}[-]etcd failed: etcd does not answer: writes are refused\nreadyz check failed\n`,
  ],
  ['unproven', '/readyz/etcd', 500, /etcd does not answer/],
  ['unproven', '/readyz?exclude=etcd', 200, 'ok'],
  ['unproven', '/livez', 200, 'ok'],
  ['lost', '/readyz', 500, /another coordinator leads/],
];

test('/readyz fails while the leadership is not proven, and /livez does not', async () => {
  const leadership: { state: LeadershipProof['state'] } = { state: 'proven' };
  await withApi({ leadership }, async (api) => {
    for (const [state, path, code, text] of PROOFS) {
      leadership.state = state;
      const answer = await call(api, `GET ${path}`);
      assert.equal(answer.code, code, `${state} ${path}`);
      if (typeof text === 'string') assert.equal(answer.text, text, `${state} ${path}`);
      else assert.match(answer.text, text, `${state} ${path}`);
    }
  });
});

test('the metrics show roles, lag, term, log and etcd, and nothing while they are not known', async () => {
  const registry = new Registry();
  const cluster = threeCoordinators();
  addClusterMetrics(registry, cluster);
  const samples = async () =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual((await samples()).sort(), [
    'everynode_coordinator_lag_records{coordinator="a"} 0',
    'everynode_coordinator_lag_records{coordinator="b"} 3',
    'everynode_coordinator_lag_records{coordinator="c"} 3',
    'everynode_coordinator_role{coordinator="a",role="Leader"} 1',
    'everynode_coordinator_role{coordinator="b",role="Follower"} 1',
    'everynode_coordinator_role{coordinator="c",role="Down"} 1',
    'everynode_coordinator_term 7',
    'everynode_etcd_db_size_bytes{endpoint="https://e1:2379"} 4096',
    'everynode_etcd_healthy{endpoint="https://e1:2379"} 1',
    'everynode_etcd_healthy{endpoint="https://e2:2379"} 0',
    'everynode_log_records 40',
  ]);
  cluster.list = () => Promise.reject(new Error('etcd does not answer'));
  assert.deepEqual(await samples(), []);
});
