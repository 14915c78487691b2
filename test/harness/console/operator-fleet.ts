/**
 * The fleet of an operator with work to do: five sites, one of them offline, a failed release, a rollout that waits for
 * approval, a tainted host, windows by time zone, and a user who may read one namespace. Names and counts are the same in
 * each run.
 */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { until } from '../basics/wait-until.js';
import { runCommand } from '../simulated/simulated-actions.js';
import type { SimulatedFleet } from '../simulated/simulated-fleet-fixture.js';

const SITES = ['berlin', 'bremen', 'hamburg', 'kiel', 'rostock'];
/** With the same offset, so that the order of windows does not depend on the time of day. */
const ZONES = ['Europe.Berlin', 'Europe.Madrid', 'Europe.Vienna'];
const image = (name: string) => `registry.example/${name}`;
const DAY_MS = 86_400_000;
const MERGE = 'application/merge-patch+json';
const FLEET_API = '/apis/fleet.everynode.dev/v1/namespaces';
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces';
const LIMITS = { timeoutMs: 120_000 };

/** Number of hosts, a multiple of the number of sites. */
export const OPERATOR_HOSTS = 50;
/** All are healthy and in the same site. */
export const BERLIN_HOSTS = OPERATOR_HOSTS / SITES.length;
/** Flags of the coordinator with which hosts are soon `Unknown`. */
export const PICTURED_FLEET_FLAGS = { nodeMonitorGracePeriod: '20s' };
/** Tainted, so that DaemonSets have no Pod on it. */
export const TAINTED_HOST = 'node-18';
/** The only host of its site that is offline. */
export const OFFLINE_HOST = 'node-17';
/** The failed release is stopped after this host, the first wave. */
const FAILED_HOST = 'node-1';
/** The wave that waits for approval. */
const FIRST_TO_APPROVE = ['node-2', 'node-7'];

/**
 * Prepares a fleet of `OPERATOR_HOSTS` hosts, which has no DaemonSets yet. Some hosts are cut off. The coordinator notices
 * it seconds later.
 */
export async function prepareOperatorFleet(fleet: SimulatedFleet): Promise<void> {
  await labelHosts(fleet);
  await createPolicies(fleet);
  await createDaemonSet(fleet, { name: 'till', image: image('till:1.4.1'), policy: { care: 'waves' } });
  await createDaemonSet(fleet, {
    name: 'backup',
    image: image('backup:2.0.1'),
    policy: { when: 'at-night' },
  });
  await createDaemonSet(fleet, { name: 'sign', image: image('sign:3.1.0'), policy: { care: 'approval' } });
  await fleet.api.request('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
  const inOneSite = { nodeSelector: { site: 'berlin' } };
  const shopApp = {
    name: 'shop-app',
    namespace: 'shop',
    image: image('shop-app:0.9.0'),
    ...inOneSite,
  };
  await createDaemonSet(fleet, shopApp);
  await fleet.api.request('POST', '/api/v1/namespaces/default/services', {
    metadata: { name: 'till' },
    spec: { selector: { app: 'till' }, clusterIP: 'None', ports: [{ port: 80 }] },
  });
  for (const name of ['till', 'backup', 'sign']) await allReady(fleet, 'default', name, OPERATOR_HOSTS - 1);
  await allReady(fleet, 'shop', 'shop-app', BERLIN_HOSTS);
  await runCommand(fleet, `offline ${hostsWithoutLink().join()}`);
  await release(fleet, 'till', image('till:1.5.0'), { 'simulate.everynode.dev/fail': 'true' });
  await release(fleet, 'sign', image('sign:3.2.0'));
  await reaches(fleet, 'till', 'Failed');
  await reaches(fleet, 'sign', 'AwaitingApproval');
}

/** Resolves after the coordinator's grace period for hosts without a connection. Nothing more changes then. */
export function untilHostsAreUnknown(fleet: SimulatedFleet): Promise<void> {
  const count = hostsWithoutLink().length;
  const areUnknown = async () => {
    const { items } = await fleet.api.items<Host>('/apis/fleet.everynode.dev/v1/hosts');
    return items.filter(({ status }) => status.state === 'Unknown').length === count;
  };
  return until(areUnknown, { ...LIMITS, what: `${count} hosts that are Unknown` });
}

/** Creates a user with the role `view` in the namespace `shop`. Returns the token. */
export async function readerOfShop({ api }: SimulatedFleet): Promise<string> {
  const accounts = '/api/v1/namespaces/shop/serviceaccounts';
  await api.request('POST', accounts, { metadata: { name: 'reader' } });
  await api.request('POST', `${RBAC}/shop/rolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'shop' }],
  });
  const path = `${accounts}/reader/token`;
  return (await api.request<{ status: { token: string } }>('POST', path, { spec: {} })).status.token;
}

async function labelHosts({ api }: SimulatedFleet): Promise<void> {
  const names = Array.from({ length: OPERATOR_HOSTS }, (_, index) => `node-${index + 1}`);
  // One after another, so that the activity page has one order.
  for (const [index, name] of names.entries()) {
    const site = SITES[index % SITES.length] ?? '';
    const labels = {
      site,
      tz: ZONES[(index % SITES.length) % ZONES.length],
      ...(name === FAILED_HOST ? { ring: 'canary' } : {}),
      ...(FIRST_TO_APPROVE.includes(name) ? { ring: 'first' } : {}),
    };
    const taints = [{ key: 'repair', value: 'disk', effect: 'NoSchedule' }];
    const spec = name === TAINTED_HOST ? { taints } : {};
    await api.request('PATCH', `/api/v1/nodes/${name}`, { metadata: { labels }, spec }, MERGE);
  }
}

/** Returns the hour of Berlin that is half a day ahead: a window at 3:00 would be open while tests run at night. */
export function closedFor(now: Date): number {
  const hour = new Intl.DateTimeFormat('en', {
    timeZone: 'Europe/Berlin',
    hour: 'numeric',
    hourCycle: 'h23',
  });
  return (Number(hour.format(now)) + 12) % 24;
}

async function createPolicies({ api }: SimulatedFleet): Promise<void> {
  const create = (name: string, spec: object) =>
    api.request('POST', `${FLEET_API}/default/rolloutpolicies`, { metadata: { name }, spec });
  await create('gentle', {
    selector: { matchLabels: { care: 'waves' } },
    waves: [
      { name: 'canary', nodes: 1, nodeSelector: { matchLabels: { ring: 'canary' } }, soakSeconds: 3600 },
    ],
    failureBudget: { maxFailed: 0, progressDeadlineSeconds: 60 },
  });
  await create('with-approval', {
    selector: { matchLabels: { care: 'approval' } },
    waves: [
      { name: 'first', nodes: 2, nodeSelector: { matchLabels: { ring: 'first' } }, approval: 'Manual' },
    ],
  });
  const days = (ahead: number) => new Date(Date.now() + ahead * DAY_MS).toISOString().slice(0, 10);
  await create('at-night', {
    selector: { matchLabels: { when: 'at-night' } },
    windows: [
      {
        ...{ schedule: `0 ${closedFor(new Date())} * * *`, durationSeconds: 7200 },
        ...{ timeZoneLabel: 'tz', timeZone: 'Europe/Berlin' },
      },
    ],
    freezes: [{ from: days(3), to: days(5), timeZone: 'Europe/Berlin', reason: 'Christmas sales' }],
  });
}

interface NewDaemonSet {
  name: string;
  namespace?: string;
  image: string;
  /** Labels by which a policy selects the DaemonSet. */
  policy?: Record<string, string>;
  nodeSelector?: Record<string, string>;
}

async function createDaemonSet({ api }: SimulatedFleet, created: NewDaemonSet): Promise<void> {
  const { name, namespace = 'default', image, policy = {}, nodeSelector } = created;
  const labels = { app: name };
  await api.request('POST', `/apis/apps/v1/namespaces/${namespace}/daemonsets`, {
    metadata: { name, labels: policy },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'main', image }], ...(nodeSelector ? { nodeSelector } : {}) },
      },
    },
  });
}

function allReady({ api }: SimulatedFleet, namespace: string, name: string, count: number): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}`;
  const areReady = async () => (await api.request<DaemonSet>('GET', path)).status?.numberReady === count;
  return until(areReady, { ...LIMITS, what: `${count} ready Pods of ${name}` });
}

async function release(
  { api }: SimulatedFleet,
  name: string,
  image: string,
  annotations: Record<string, string> = {},
): Promise<void> {
  const template = { metadata: { annotations }, spec: { containers: [{ name: 'main', image }] } };
  await api.request(
    'PATCH',
    `/apis/apps/v1/namespaces/default/daemonsets/${name}`,
    { spec: { template } },
    MERGE,
  );
}

function reaches({ api }: SimulatedFleet, name: string, phase: string): Promise<void> {
  const isThere = async () => {
    const { body } = await api.send('GET', `${FLEET_API}/default/rollouts/${name}`);
    return (body as Rollout).status?.phase === phase;
  };
  return until(isThere, { ...LIMITS, what: `the rollout of ${name} to be ${phase}` });
}

function hostsWithoutLink(): string[] {
  return [OFFLINE_HOST, ...hostsOfRostock().slice(1)];
}

function hostsOfRostock(): string[] {
  const numbers = Array.from({ length: OPERATOR_HOSTS }, (_, index) => index + 1);
  return numbers.filter((number) => number % SITES.length === 0).map((number) => `node-${number}`);
}
