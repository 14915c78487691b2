/**
 * Disks that fill up under the real programs: acknowledged writes are kept, running Pods continue, and free space is
 * enough to recover.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FileFacts } from '../../../agent/decisions/container-spec/volume-files.js';
import { prepareDataDir } from '../../../agent/program/agent-data-directory.js';
import { HostVolumes } from '../../../agent/volumes/host-volumes.js';
import { NO_ENGINE } from '../../../agent/volumes/sub-path-preparation.js';
import { type ApiClient, apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { KubeEvent } from '../../../shared/kube/objects/event-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { until } from '../../harness/basics/wait-until.js';
import { mountSmallDisk, type SmallDisk } from '../../harness/pods/small-disk.js';
import {
  type RunningProgram,
  startAgentProcess,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';

interface List<T> {
  items: T[];
}

/** More writes than the free pages of a small database can hold. */
const MOST_WRITES = 200;
/** Objects to delete; together they need more space than a full disk has. */
const SPARES = 40;
const PATIENCE = { timeoutMs: 60_000 };
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const HOST = '/apis/fleet.everynode.dev/v1/hosts/n1';

const configMap = (name: string, data = 'x') => ({ metadata: { name }, data: { data } });
const pod = (name: string) => ({
  metadata: { name },
  spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'app:1' }] },
});

async function phaseOf(api: ApiClient, name: string): Promise<string | undefined> {
  return (await api.request<Pod>('GET', `${PODS}/${name}`)).status?.phase;
}

/** Facts of a host that has one ConfigMap. */
const showing = (value: string): FileFacts => ({
  nodeName: 'n',
  hostIP: '',
  podIP: '',
  allocatable: {},
  findConfig: () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'config' }, data: { value } }),
});

/** Writes until the disk is full. A page of the log or a checkpoint may still have free space after the fill. */
async function untilRefused(disk: SmallDisk, write: () => Promise<unknown>): Promise<ApiError> {
  for (let times = 0; times < MOST_WRITES; times += 1) {
    disk.fill();
    try {
      await write();
    } catch (error) {
      assert.ok(error instanceof ApiError, String(error));
      return error;
    }
  }
  throw new Error(`${MOST_WRITES} writes were taken by a full disk`);
}

/** Pods in the state that the host has on its disk. */
function keptPods(dataDir: string): string[] {
  const path = join(dataDir, 'desired.json');
  if (!existsSync(path)) return [];
  const { pods } = JSON.parse(readFileSync(path, 'utf8').split('\n')[1] ?? '{}') as { pods: { pod: Pod }[] };
  return pods.map(({ pod: { metadata } }) => metadata.name);
}

test('a coordinator and a host with full disks keep running, report it, and recover by themselves', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-disks-'));
  const disks: SmallDisk[] = [];
  const running: RunningProgram[] = [];
  context.after(async () => {
    for (const program of running.reverse()) await program.end('SIGKILL');
    for (const disk of disks) disk.unmount();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const [name, size] of [
    ['coordinator', 24],
    ['host', 64],
  ] as const) {
    const disk = mountSmallDisk(join(folder, name), size);
    if (typeof disk === 'string') return leaveOut(context, 'full disks', disk);
    disks.push(disk);
  }
  const [ofCoordinator, ofHost] = disks as [SmallDisk, SmallDisk];
  // The coordinator's log file lies next to this disk's mount point, on another disk.
  const data = ofCoordinator.path;
  const coordinator = await startCoordinatorProcess(data);
  running.push(coordinator);
  const api = apiClientFromKubeconfig(coordinator.kubeconfigPath);
  const { text: token } = await createToken(api, { ttlSeconds: 0, description: 'disks', reusable: true });
  const hostData = join(ofHost.path, 'data');
  // The host has disk pressure by the agent's defaults from the start. Other tests turn these evictions off.
  writeFileSync(join(ofHost.path, 'ballast'), Buffer.alloc(60 * 2 ** 20));
  const agent = startAgentProcess({ node: 'n1', server: api.server, token, dataDir: hostData });
  running.push(agent);
  const isReady = async () =>
    (await api.request<Host>('GET', HOST).catch(() => undefined))?.status.state === 'Ready';
  await until(isReady, { ...PATIENCE, what: 'the host' });

  await context.test(
    'a host with a full disk runs new Pods, reports unsaved state, and saves it once there is space',
    async () => {
      ofHost.fill();
      // The first write can use the reserve; the following ones find no space.
      for (let at = 0; at < 3; at += 1) {
        await api.request('POST', PODS, pod(`p${at}`));
        await until(async () => (await phaseOf(api, `p${at}`)) === 'Running', {
          ...PATIENCE,
          what: `p${at}`,
        });
        ofHost.fill();
      }
      const told = async () => {
        const { items } = await api.request<List<KubeEvent>>('GET', '/api/v1/namespaces/default/events');
        return items.some(({ reason }) => reason === 'DesiredStateNotPersisted');
      };
      await until(told, { ...PATIENCE, what: 'the event' });
      assert.equal(await isReady(), true);
      // A deletion that frees space must be accepted.
      await api.request('DELETE', `${PODS}/p0`, { gracePeriodSeconds: 0 });
      await api.request('POST', PODS, pod('last'));
      await until(async () => (await phaseOf(api, 'last')) === 'Running', { ...PATIENCE, what: 'last' });
      await agent.end('SIGTERM');
      ofHost.fill();
      // Simulates a reboot with a disk that is still full.
      running.push(startAgentProcess({ node: 'n1', server: api.server, token, dataDir: hostData }));
      await api.request('POST', PODS, pod('started'));
      await until(async () => (await phaseOf(api, 'started')) === 'Running', {
        ...PATIENCE,
        what: 'started',
      });
      ofHost.free();
      const isKept = () => ['p1', 'p2', 'last', 'started'].every((name) => keptPods(hostData).includes(name));
      await until(isKept, { ...PATIENCE, what: 'all Pods on the disk' });
    },
  );

  await context.test(
    'a coordinator with a full disk refuses writes clearly, keeps reads and links, and recovers once there is space',
    async () => {
      for (let at = 0; at < SPARES; at += 1) await api.request('POST', CONFIG_MAPS, configMap(`spare-${at}`));
      const before = (await api.request<List<object>>('GET', CONFIG_MAPS)).items.length;
      let written = 0;
      const refused = await untilRefused(ofCoordinator, async () => {
        await api.request('POST', CONFIG_MAPS, configMap(`c${written}`, 'x'.repeat(30_000)));
        written += 1;
      });
      assert.deepEqual([refused.code, refused.reason], [503, 'ServiceUnavailable']);
      assert.match(refused.message, /disk of the coordinator is full and nothing was written/);
      const listed = await api.request<List<object>>('GET', CONFIG_MAPS);
      assert.equal(listed.items.length, before + written);
      let gone = 0;
      const kept = await untilRefused(ofCoordinator, async () => {
        await api.request('DELETE', `${CONFIG_MAPS}/spare-${gone}`);
        gone += 1;
      });
      assert.equal(kept.code, 503, `the delete after ${gone} others`);
      assert.equal(await isReady(), true);
      ofCoordinator.free();
      await api.request('POST', CONFIG_MAPS, configMap('after'));
      await api.request('POST', PODS, pod('after'));
      await until(async () => (await phaseOf(api, 'after')) === 'Running', { ...PATIENCE, what: 'after' });
      assert.equal(await isReady(), true);
    },
  );

  await context.test('no acknowledged write is lost after a full disk and a kill', async () => {
    const names = async (client: ApiClient) =>
      (await client.request<List<{ metadata: { name: string } }>>('GET', CONFIG_MAPS)).items
        .map(({ metadata }) => metadata.name)
        .sort();
    const before = await names(api);
    await coordinator.end('SIGKILL');
    const again = await startCoordinatorProcess(data);
    running.push(again);
    assert.deepEqual(await names(apiClientFromKubeconfig(again.kubeconfigPath)), before);
    await again.end('SIGTERM');
  });

  await context.test('a coordinator that starts on a full disk serves the stored objects', async () => {
    await until(() => existsSync(join(data, 'reserve')), { ...PATIENCE, what: 'the reserve' });
    ofCoordinator.fill();
    const started = await startCoordinatorProcess(data);
    running.push(started);
    const client = apiClientFromKubeconfig(started.kubeconfigPath);
    assert.ok((await client.request<List<object>>('GET', CONFIG_MAPS)).items.length > 0);
    let written = 0;
    const refused = await untilRefused(ofCoordinator, async () => {
      await client.request('POST', CONFIG_MAPS, configMap(`full-${written}`, 'x'.repeat(30_000)));
      written += 1;
    });
    assert.equal(refused.code, 503);
    ofCoordinator.free();
    await client.request('POST', CONFIG_MAPS, configMap('room'));
    await started.end('SIGTERM');
  });

  await context.test('a joined host serves Pods from a data directory that became read-only', () => {
    const disk = mountSmallDisk(join(folder, 'read-only'), 1);
    assert.ok(typeof disk !== 'string');
    disks.push(disk);
    const remount = (as: string) => execFileSync('mount', ['-o', `remount,${as}`, disk.path]);
    remount('ro');
    assert.throws(() => prepareDataDir(disk.path), /cannot be written to: EROFS/);
    remount('rw');
    assert.equal(prepareDataDir(disk.path), true);
    writeFileSync(join(disk.path, 'identity.json'), '{}');
    remount('ro');
    assert.equal(prepareDataDir(disk.path), false);
  });

  await context.test(
    'complete volumes on a read-only disk are ready, and their removal is retried later',
    async () => {
      const disk = mountSmallDisk(join(folder, 'volumes'), 1);
      assert.ok(typeof disk !== 'string');
      disks.push(disk);
      const volumes = new HostVolumes(disk.path, NO_ENGINE);
      const of = (uid: string): Pod => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: uid, uid },
        spec: {
          containers: [{ name: 'app', image: 'app:1' }],
          securityContext: { fsGroup: 100 },
          volumes: [
            { name: 'scratch', emptyDir: {} },
            { name: 'told', configMap: { name: 'config' } },
          ],
        },
      });
      await volumes.prepare(of('here'), showing('old'));
      await disk.lock(true);
      await volumes.prepare(of('here'), showing('old'));
      await assert.rejects(volumes.prepare(of('new'), showing('old')), {
        message: /^MountVolume.SetUp failed for volume "scratch" : EROFS: read-only file system, mkdir/,
      });
      await assert.rejects(volumes.refresh(of('here'), showing('new')), {
        message: /^MountVolume.SetUp failed for volume "told" : EROFS: read-only file system, mkdir/,
      });
      await volumes.remove('here');
      await disk.lock(false);
      assert.deepEqual(await volumes.sweep(() => false), ['here']);
      assert.deepEqual(readdirSync(join(disk.path, 'pods')), []);
    },
  );

  await context.test(
    'a coordinator without its start reserve reports the missing space, and serves once there is space',
    async () => {
      rmSync(join(data, 'reserve'), { force: true });
      ofCoordinator.fill();
      const log = `${data}-coordinator.log`;
      rmSync(log);
      const starting = startCoordinatorProcess(data);
      const isWaiting = () => existsSync(log) && readFileSync(log, 'utf8').includes('waiting for free space');
      await until(isWaiting, { ...PATIENCE, what: 'its word' });
      ofCoordinator.free();
      const started = await starting;
      running.push(started);
      await started.end('SIGTERM');
    },
  );
});
