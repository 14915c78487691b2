/** Jobs, values and an override for the pictures of their pages. The same in each run. */
import type { DaemonJob } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { until } from '../basics/wait-until.js';
import type { SimulatedFleet } from '../simulated/simulated-fleet-fixture.js';
import { OFFLINE_HOST, OPERATOR_HOSTS } from './operator-fleet.js';

const FLEET_API = '/apis/fleet.everynode.dev/v1/namespaces';
const JOBS = `${FLEET_API}/default/daemonjobs`;
const VALUES = `${FLEET_API}/default/hostvalues`;
const OVERRIDES = `${FLEET_API}/shop/daemonsetoverrides`;
const MERGE = 'application/merge-patch+json';
const LIMITS = { timeoutMs: 120_000 };
const image = (name: string) => `registry.example/${name}`;

/** The hosts of bremen. One of them is offline. */
const JOB_HOSTS = OPERATOR_HOSTS / 5;
const FAILED_JOB_HOST = 'node-12';

/** Adds the objects to a fleet that `prepareOperatorFleet` has prepared. Resolves when nothing changes any more. */
export async function addPicturedWork(fleet: SimulatedFleet): Promise<void> {
  await addValues(fleet);
  await addOverride(fleet);
  await addJob(fleet);
}

/** No Pod uses the values. They were changed, so that they have a history. */
async function addValues({ api }: SimulatedFleet): Promise<void> {
  const create = (name: string, spec: object) => api.request('POST', VALUES, { metadata: { name }, spec });
  const change = (name: string, spec: object) => api.request('PATCH', `${VALUES}/${name}`, { spec }, MERGE);
  await create('defaults', { priority: -1, values: { currency: 'EUR', memory: '64Mi' } });
  await create('kiel', {
    nodeSelector: { matchLabels: { site: 'kiel' } },
    values: { memory: '96Mi', server: 'kiel-1.example' },
    hosts: { 'node-4': { store: '4711' }, 'node-9': { store: '4712' } },
  });
  await change('kiel', { values: { memory: '128Mi' } });
  await change('kiel', { values: { server: 'kiel-2.example' }, hosts: { 'node-14': { store: '4713' } } });
}

async function addOverride({ api }: SimulatedFleet): Promise<void> {
  const containers = [{ name: 'main', image: image('shop-app:0.9.1') }];
  await api.request('POST', OVERRIDES, {
    metadata: { name: 'pilot' },
    spec: {
      daemonSetName: 'shop-app',
      nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'node-6' } },
      containers,
    },
  });
  const env = [{ name: 'LOG_LEVEL', value: 'debug' }];
  const withLog = containers.map((container) => ({ ...container, env }));
  await api.request('PATCH', `${OVERRIDES}/pilot`, { spec: { containers: withLog } }, MERGE);
  const path = '/apis/apps/v1/namespaces/shop/daemonsets/shop-app';
  const isSettled = async () => {
    const { metadata, status } = await api.request<DaemonSet>('GET', path);
    const { observedGeneration, numberReady, updatedNumberScheduled, desiredNumberScheduled } = status ?? {};
    return (
      observedGeneration === metadata.generation &&
      numberReady === desiredNumberScheduled &&
      updatedNumberScheduled === desiredNumberScheduled
    );
  };
  await until(isSettled, { ...LIMITS, what: 'the Pod of the override' });
}

/** Fails on one host, and waits for one that is offline. */
async function addJob({ api }: SimulatedFleet): Promise<void> {
  const command = ['inventory', '--all'];
  await api.request('POST', JOBS, {
    metadata: { name: 'inventory' },
    spec: {
      backoffLimit: 0,
      template: {
        metadata: { annotations: { 'simulate.everynode.dev/fail-on': FAILED_JOB_HOST } },
        spec: {
          nodeSelector: { site: 'bremen' },
          containers: [{ name: 'main', image: image('inventory:2.3.0'), command }],
        },
      },
    },
  });
  const isOver = async () => {
    const { status } = await api.request<DaemonJob>('GET', `${JOBS}/inventory`);
    return status?.succeeded === JOB_HOSTS - 2 && status.failed === 1 && status.offline === 1;
  };
  await until(isOver, { ...LIMITS, what: `all results but those of ${OFFLINE_HOST}` });
}
