/** Pods that name ConfigMaps and Secrets: waiting, updates, and the files that a dead agent leaves. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { podFolders } from '../../../agent/volumes/pod-folders.js';
import type { ConfigMap, Secret } from '../../../shared/kube/objects/config-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { PodFixture } from '../../harness/pods/pod-fixture.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

const metadata = { name: 'x', namespace: 'default' };
const configMap = (value: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata,
  data: { key: value },
});
const SECRET: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: { key: 'dg==' } };

const byEnv = (): Pod =>
  podOf('p', { containers: [{ name: 'app', image: 'app:1', envFrom: [{ configMapRef: { name: 'x' } }] }] });
const byFile = (changes: Partial<Pod['metadata']> = {}): Pod =>
  podOf(
    'p',
    {
      containers: [{ name: 'app', image: 'app:1', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
      volumes: [
        {
          name: 'v',
          projected: {
            sources: [
              { configMap: { name: 'x' } },
              { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
            ],
          },
        },
      ],
    },
    changes,
  );

let fixture: PodFixture;
afterEach(() => fixture.close());

const running = () => fixture.until('p runs', () => fixture.state('p') === 'running');
const shown = (file: string): string =>
  readFileSync(join(podFolders(fixture.dataDir).memory, 'uid-p/volumes/files/v', file), 'utf8');
const eventually = (file: string, text: string) =>
  fixture.until(`${file}: ${text}`, () => shown(file) === text);

describe('a missing ConfigMap', () => {
  test('a missing object of an environment variable keeps a container waiting with the API’s message', async () => {
    fixture = new PodFixture();
    fixture.assignPod(byEnv());
    await fixture.until('refused', () => fixture.state('p') === 'CreateContainerConfigError');
    assert.equal(fixture.container('p')?.state?.waiting?.message, 'configmap "x" not found');
    assert.ok(fixture.events.includes('Failed: Error: configmap "x" not found'));
    // At once and without a timer, because the clock does not advance.
    fixture.storeConfig(configMap('1'));
    await running();
  });

  test('a missing object of a volume keeps the volume waiting, reported as FailedMount', async () => {
    fixture = new PodFixture();
    fixture.assignPod(byFile());
    const text = 'FailedMount: MountVolume.SetUp failed for volume "v" : configmap "x" not found';
    await fixture.until('told', () => fixture.events.includes(text));
    assert.equal(fixture.state('p'), 'ContainerCreating');
    fixture.storeConfig(configMap('1'));
    await running();
    assert.equal(shown('key'), '1');
  });
});

describe('files of a running Pod', () => {
  test('contain a new token when the last one is not valid by the coordinator’s stepped clock', async () => {
    fixture = new PodFixture();
    const issuedAt = 1_800_000_000;
    const token = (name: string) => {
      const claims = { jti: name, nbf: issuedAt, exp: issuedAt + 3_600 };
      return `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
    };
    const [first, second] = [token('first'), token('second')];
    fixture.token = first;
    const sources = [{ serviceAccountToken: { path: 'token', expirationSeconds: 3_600 } }];
    fixture.assignPod(
      podOf('p', {
        containers: [{ name: 'app', image: 'app:1', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
        volumes: [{ name: 'v', projected: { sources } }],
      }),
    );
    await running();
    fixture.token = second;
    fixture.workers.onCoordinatorTime((issuedAt + 60) * 1_000);
    await fixture.pass(1_000);
    assert.equal(shown('token'), first, 'it is good');
    fixture.workers.onCoordinatorTime((issuedAt + 3_600) * 1_000);
    await eventually('token', second);
  });

  test('follow their ConfigMap and the Pod itself, without restarting a container', async () => {
    fixture = new PodFixture();
    fixture.storeConfig(configMap('1'));
    fixture.assignPod(byFile({ labels: { a: '1' } }));
    await running();
    fixture.storeConfig(configMap('2'));
    await eventually('key', '2');
    fixture.assignPod(byFile({ labels: { a: '2' } }));
    await eventually('labels', 'a="2"');
    assert.equal(fixture.container('p')?.restartCount, 0);
  });

  test('stay unchanged when their ConfigMap is deleted; the Pod keeps running and an Event reports it', async () => {
    fixture = new PodFixture();
    fixture.storeConfig(configMap('1'));
    fixture.assignPod(byFile());
    await running();
    fixture.removeConfig(configMap('1'));
    await fixture.until('told', () => fixture.events.some((event) => event.startsWith('FailedMount')));
    assert.deepEqual([shown('key'), fixture.state('p')], ['1', 'running']);
    fixture.storeConfig(configMap('2'));
    await eventually('key', '2');
  });

  test('are updated by an agent that was away when they changed', async () => {
    fixture = new PodFixture();
    fixture.storeConfig(configMap('1'));
    fixture.assignPod(byFile());
    await running();
    fixture.config.set('ConfigMap/default/x', configMap('2'));
    await fixture.restartAgent();
    await eventually('key', '2');
    assert.equal(fixture.container('p')?.restartCount, 0);
  });

  test('are written again for the containers that follow a reboot', async () => {
    fixture = new PodFixture();
    fixture.storeConfig(configMap('1'));
    fixture.assignPod(byFile());
    await running();
    rmSync(podFolders(fixture.dataDir).memory, { recursive: true });
    fixture.facts.bootMark = 'boot-2';
    for (const { id } of await fixture.driver.inspectPod('uid-p')) await fixture.driver.stop(id, 0);
    await fixture.restartAgent();
    await fixture.until(
      'restarted',
      () => (fixture.container('p')?.restartCount ?? 0) > 0 && fixture.state('p') === 'running',
    );
    assert.equal(shown('key'), '1');
  });
});

describe('folders', () => {
  test('of unknown Pods are removed when the agent starts, all others are kept', async () => {
    fixture = new PodFixture();
    fixture.storeConfig(SECRET);
    fixture.storeConfig(configMap('1'));
    fixture.assignPod(byFile());
    await running();
    const { disk, memory } = podFolders(fixture.dataDir);
    for (const root of [disk, memory]) mkdirSync(join(root, 'uid-left/volumes/files/v'), { recursive: true });
    await fixture.restartAgent();
    await fixture.until('swept', () => ![disk, memory].some((root) => existsSync(join(root, 'uid-left'))));
    assert.equal(shown('key'), '1');
  });
});
