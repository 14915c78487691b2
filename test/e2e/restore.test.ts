/**
 * A fleet whose coordinator is lost with everything since its last backup, a host that joined among it, as processes: what the hosts run goes on, comes back into the
 * store, and is only touched once a person has confirmed.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { apiClientFromKubeconfig } from '../../coordinator/cli/api-client.js';
import { createToken } from '../../coordinator/cli/token.js';
import { isConditionTrue } from '../../shared/kube/conditions.js';
import type { Node } from '../../shared/kube/node.js';
import type { Pod } from '../../shared/kube/pod.js';
import { CoordinatorApi } from '../harness/coordinator-api.js';
import { freePort } from '../harness/free-port.js';
import {
  type CoordinatorProcess,
  type RunningProgram,
  runEverynode,
  startAgentProcess,
  startCoordinatorProcess,
} from '../harness/processes.js';
import { until } from '../harness/until.js';

const NODES = ['n1', 'n2'];
const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
/** Images of what was there when the coordinator was lost. */
const UNTOUCHED = ['later:1', 'later:1', 'web:2', 'web:2'];
/** Of Pods that show that their host hears the coordinator. */
const PROBES = ['probe:1', 'probe:1', 'probe:2', 'probe:2'];
const PATIENCE_MS = 60_000;

function daemonSet(name: string, image: string) {
  const labels = { app: name };
  const spec = { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image }] };
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } };
  const template = { metadata: { labels }, spec };
  return { metadata: { name }, spec: { selector: { matchLabels: labels }, updateStrategy, template } };
}

/** What tells one run of a container from another. */
function runOf({ metadata, status }: Pod): string {
  const [container] = status?.containerStatuses ?? [];
  return [
    metadata.uid,
    container?.containerID,
    container?.restartCount,
    container?.state?.running?.startedAt,
  ].join(' ');
}

const isRunning = ({ status }: Pod): boolean => isConditionTrue(status?.conditions, 'Ready');

class Fleet {
  readonly folder = mkdtempSync(join(tmpdir(), 'everynode-restore-'));
  readonly agents: RunningProgram[] = [];
  port = 0;
  coordinator: CoordinatorProcess | undefined;
  #api: CoordinatorApi | undefined;

  get api(): CoordinatorApi {
    if (!this.#api) throw new Error('the coordinator was not started');
    return this.#api;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async startCoordinator(data: string): Promise<void> {
    this.coordinator = await startCoordinatorProcess(this.path(data), ['--port', String(this.port)]);
    this.#api?.close();
    this.#api = new CoordinatorApi(this.coordinator.kubeconfig);
  }

  async join(node: string, data: string): Promise<void> {
    const client = apiClientFromKubeconfig(join(this.path(data), 'kubeconfig'));
    const { text: token } = await createToken(client, { ttlSeconds: 0, description: 'restore' });
    const server = `https://127.0.0.1:${this.port}`;
    this.agents.push(startAgentProcess({ node, server, token, dataDir: this.path(node) }));
  }

  /** A Pod of one's own on each node, which no controller has a say in. */
  async startProbes(image: string): Promise<void> {
    for (const nodeName of NODES) {
      const metadata = { name: `${image.replace(':', '-')}-${nodeName}` };
      const spec = { nodeName, containers: [{ name: 'main', image }] };
      await this.api.ask('POST', '/api/v1/namespaces/default/pods', { metadata, spec });
    }
  }

  async pods(): Promise<Pod[]> {
    return (await this.api.items<Pod>('/api/v1/namespaces/default/pods')).items;
  }

  /** The images of all Pods, once there are as many as named and all run. */
  async running(images: readonly string[]): Promise<Pod[]> {
    let pods: Pod[] = [];
    const wanted = [...images].sort().join();
    const what = `Pods of ${wanted}`;
    await until(
      async () => {
        pods = await this.pods();
        const found = pods.map(({ spec }) => spec.containers[0]?.image ?? '').sort();
        return found.join() === wanted && pods.every(isRunning);
      },
      { timeoutMs: PATIENCE_MS, what },
    );
    return pods;
  }

  async close(): Promise<void> {
    for (const agent of this.agents) await agent.end('SIGKILL');
    await this.coordinator?.end('SIGTERM');
    this.#api?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

describe('a restore with live agents', () => {
  const fleet = new Fleet();
  let runsBefore: string[] = [];
  before(async () => {
    fleet.port = await freePort();
    await fleet.startCoordinator('lost');
    await fleet.join('n1', 'lost');
    await fleet.api.ask('POST', DAEMON_SETS, daemonSet('web', 'web:1'));
    await fleet.running(['web:1']);
    const backup = await runEverynode([
      'backup',
      '--data',
      fleet.path('lost'),
      '--to',
      fleet.path('b.tar.gz'),
    ]);
    assert.equal(backup.code, 0, backup.stderr);
    await fleet.join('n2', 'lost');
    const change = JSON.stringify({ spec: daemonSet('web', 'web:2').spec });
    const type = 'application/merge-patch+json';
    await fleet.api.ask('PATCH', `${DAEMON_SETS}/web`, JSON.parse(change), type);
    await fleet.api.ask('POST', DAEMON_SETS, daemonSet('later', 'later:1'));
    const pods = await fleet.running(UNTOUCHED);
    runsBefore = pods.map(runOf).sort();
    await fleet.coordinator?.end('SIGKILL');
    const data = ['--data', fleet.path('new')];
    const restore = await runEverynode(['restore', fleet.path('b.tar.gz'), ...data]);
    assert.equal(restore.code, 0, restore.stderr);
    await fleet.startCoordinator('new');
  });
  after(() => fleet.close());

  test('what ran comes back under its uid, never stopped; what had ended leaves', async () => {
    const pods = await fleet.running(UNTOUCHED);
    assert.deepEqual(pods.map(runOf).sort(), runsBefore);
    const { items } = await fleet.api.items<Node>('/api/v1/nodes');
    assert.deepEqual(
      items.map(({ status }) => isConditionTrue(status?.conditions, 'Ready')),
      [true, true],
    );
  });

  test('until the confirmation the store wants nothing of them, whatever it holds', async () => {
    const { body } = await fleet.api.send('GET', `${DAEMON_SETS}/later`);
    assert.equal((body as { code: number }).code, 404, 'the owner of these Pods is lost');
    await fleet.api.ask('POST', DAEMON_SETS, daemonSet('new', 'new:1'));
    await fleet.startProbes('probe:1');
    await fleet.running([...UNTOUCHED, 'probe:1', 'probe:1']);
    // The hosts are in the new era now: what they then hold and the store does not know would count as deleted.
    await fleet.coordinator?.end('SIGKILL');
    await fleet.startCoordinator('new');
    await fleet.startProbes('probe:2');
    const pods = await fleet.running([...UNTOUCHED, ...PROBES]);
    const isProbe = ({ metadata }: Pod) => metadata.name.startsWith('probe');
    assert.deepEqual(
      pods
        .filter((pod) => !isProbe(pod))
        .map(runOf)
        .sort(),
      runsBefore,
    );
  });

  test('after it the controllers make true what the store says', async () => {
    const confirm = () => runEverynode(['confirm-restore', '--data', fleet.path('new')]);
    const { code, stdout, stderr } = await confirm();
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Confirmed/);
    await fleet.running(['new:1', 'new:1', 'web:1', 'web:1', ...PROBES]);
    assert.match((await confirm()).stdout, /nothing to confirm/);
  });
});
