/** Each type of volume on real engines, read by a process inside the container. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ObservedContainer } from '../../../agent/runtime/runtime-driver.js';
import { podFolders } from '../../../agent/volumes/pod-folders.js';
import type { ConfigMap, Secret } from '../../../shared/kube/objects/config-types.js';
import type { Container, Pod, PodSpec, Volume, VolumeMount } from '../../../shared/kube/pods/pod-types.js';
import { onEachEngine } from '../../harness/engines/engine-pods.js';
import { shell } from '../../harness/engines/test-images.js';
import { podOf } from '../../harness/pods/pod-host-fixture.js';

/** Exits at once on SIGTERM. A shell with a foreground child would not. */
const WAIT = 'trap "exit 0" TERM; /bin/busybox sleep 3600 & wait';
const LABELS = { labels: { zone: 'a', app: 'x' } };

onEachEngine('volumes', (pods) => {
  const logOf = async (pod: string, container = 'app'): Promise<string> => {
    const seen = await pods.fixture.driver.inspectPod(`uid-${pod}`);
    const newest = (a: ObservedContainer, b: ObservedContainer) => b.identity.attempt - a.identity.attempt;
    const [found] = seen.filter(({ identity }) => identity.container === container).sort(newest);
    if (!found) return '';
    const chunks: Uint8Array[] = [];
    const request = { follow: false, timestamps: false };
    for await (const chunk of pods.fixture.driver.logs(found.id, request, new AbortController().signal))
      chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  };
  const end = async (pod: string): Promise<void> => {
    pods.fixture.deletePod(`uid-${pod}`);
    await pods.until(`${pod} gone`, () => !pods.fixture.assignedPods.has(`uid-${pod}`));
  };
  /**
   * Runs a Pod whose container mounts `v` at `/v` and returns the script's output. Removes the Pod and its folders
   * afterwards.
   */
  const reads = async (
    script: string,
    volume: Omit<Volume, 'name'>,
    {
      mount = {},
      container = {},
      spec = {},
    }: {
      mount?: Partial<VolumeMount>;
      container?: Partial<Container>;
      spec?: Partial<PodSpec>;
    } = {},
  ): Promise<string> => {
    const app: Container = {
      name: 'app',
      image: 'app:1',
      command: shell(`{ ${script}; } 2>&1; echo END; ${WAIT}`),
      volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }],
      ...container,
    };
    const pod: Pod = podOf('r', { containers: [app], volumes: [{ name: 'v', ...volume }], ...spec }, LABELS);
    pods.fixture.assignPod({ ...pod, spec: { ...pod.spec, terminationGracePeriodSeconds: 2 } });
    let log = '';
    await pods.until('the whole log', async () => {
      log = await logOf('r');
      return log.endsWith('END\n');
    });
    await end('r');
    const { disk, memory } = podFolders(pods.fixture.dataDir);
    for (const root of [disk, memory]) assert.equal(existsSync(join(root, 'uid-r')), false, root);
    return log.slice(0, -'END\n'.length).trim();
  };
  const bb = '/bin/busybox';
  const typeOf = `${bb} awk '$2 == "/v" { print $3 }' /proc/mounts`;

  pods.law('hostPath volumes of each type are checked and mounted', async () => {
    writeFileSync(join(pods.folder, 'file'), 'on the host');
    mkdirSync(join(pods.folder, 'folder'));
    const server = createServer().listen(join(pods.folder, 'socket'));
    const shown: [type: string, path: string, script: string, expected: string][] = [
      ['', 'new/deep', `[ -d /v ] && echo dir`, 'dir'],
      ['Directory', 'folder', `[ -d /v ] && echo dir`, 'dir'],
      ['DirectoryOrCreate', 'made', `${bb} stat -c %a /v`, '755'],
      ['File', 'file', `${bb} cat /v`, 'on the host'],
      ['FileOrCreate', 'made-file', `${bb} stat -c '%a %s' /v`, '644 0'],
      ['Socket', 'socket', `[ -S /v ] && echo socket`, 'socket'],
    ];
    for (const [type, path, script, expected] of shown) {
      assert.equal(
        await reads(script, { hostPath: { path: join(pods.folder, path), type } }),
        expected,
        type,
      );
    }
    server.close();
    assert.equal(
      await reads(`[ -c /v ] && echo device`, { hostPath: { path: '/dev/null', type: 'CharDevice' } }),
      'device',
    );
  });

  pods.law('a read-only hostPath cannot be written, also with a subPath', async () => {
    mkdirSync(join(pods.folder, 'kept'), { recursive: true });
    const hostPath = { path: join(pods.folder, 'kept') };
    const write = 'echo x >/v/x || echo refused';
    assert.match(await reads(write, { hostPath }, { mount: { readOnly: true } }), /refused$/);
    assert.match(
      await reads(write, { hostPath }, { mount: { readOnly: true, subPath: 'below' } }),
      /refused$/,
    );
    assert.deepEqual(readdirSync(hostPath.path), ['below']);
  });

  pods.law('emptyDir is on disk or in memory as requested', async () => {
    const script = `echo kept >/v/x && ${bb} cat /v/x; ${bb} stat -c %a /v; ${typeOf}`;
    const [text, mode, type] = (await reads(script, { emptyDir: {} })).split('\n');
    assert.deepEqual([text, mode], ['kept', '777']);
    assert.notEqual(type, 'tmpfs');
    assert.equal(await reads(script, { emptyDir: { medium: 'Memory' } }), 'kept\n777\ntmpfs');
  });

  for (const medium of ['', 'Memory']) {
    pods.law(`emptyDir ${medium || 'on disk'} keeps its content after a container crash`, async () => {
      const script = `${bb} cat /v/x && { ${WAIT}; }; echo survived >/v/x; exit 1`;
      const containers = [
        {
          name: 'app',
          image: 'app:1',
          command: shell(script),
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
      ];
      pods.fixture.assignPod(
        podOf('c', {
          containers,
          volumes: [{ name: 'v', emptyDir: { medium } }],
          terminationGracePeriodSeconds: 2,
        }),
      );
      await pods.until('what it wrote before', async () => (await logOf('c')).includes('survived'));
      await end('c');
    });
  }

  pods.law('a ConfigMap volume has text and binary keys, selected items and file modes', async () => {
    const configMap: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', namespace: 'default' },
      data: { a: 'text' },
      binaryData: { b: '/wA=' },
    };
    pods.fixture.storeConfig(configMap);
    assert.equal(
      await reads(`${bb} cat /v/a; echo; ${bb} od -An -tx1 /v/b`, { configMap: { name: 'c' } }),
      'text\n ff 00',
    );
    const items = [{ key: 'a', path: 'deep/er/a', mode: 0o440 }];
    const script = `${bb} find /v -type f | ${bb} wc -l; ${bb} cat /v/deep/er/a; echo; ${bb} stat -Lc %a /v/deep/er/a`;
    assert.equal(await reads(script, { configMap: { name: 'c', items } }), '1\ntext\n440');
  });

  pods.law('fsGroup makes a Secret volume readable for a user other than root', async () => {
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'default' },
      data: { key: Buffer.from('secret').toString('base64') },
    };
    pods.fixture.storeConfig(secret);
    const volume = { secret: { secretName: 's', defaultMode: 0o400 } };
    const spec = { securityContext: { runAsUser: 1000, fsGroup: 2000 } };
    const script = `${bb} cat /v/key; echo; ${bb} stat -Lc '%a %g' /v/key; ${typeOf}`;
    assert.equal(await reads(script, volume, { spec }), 'secret\n440 2000\ntmpfs');
    assert.match(
      await reads(`${bb} cat /v/key`, volume, { spec: { securityContext: { runAsUser: 1000 } } }),
      /Permission denied/,
    );
  });

  pods.law('downwardAPI files follow changes of the running Pod', async () => {
    const items = [
      { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
      {
        path: 'limit',
        resourceFieldRef: { containerName: 'app', resource: 'limits.memory', divisor: '1Mi' },
      },
    ];
    const container = { resources: { limits: { memory: '64Mi' } } };
    const script = `${bb} cat /v/labels; echo; ${bb} cat /v/limit`;
    assert.equal(await reads(script, { downwardAPI: { items } }, { container }), 'app="x"\nzone="a"\n64');
    const waits = `until ${bb} grep b /v/labels; do ${bb} usleep 50000; done; ${WAIT}`;
    const pod = podOf(
      'd',
      {
        containers: [
          {
            name: 'app',
            image: 'app:1',
            command: shell(waits),
            volumeMounts: [{ name: 'v', mountPath: '/v' }],
          },
        ],
        volumes: [{ name: 'v', downwardAPI: { items: items.slice(0, 1) } }],
        terminationGracePeriodSeconds: 2,
      },
      LABELS,
    );
    pods.fixture.assignPod(pod);
    await pods.until('d runs', () => pods.fixture.state('d') === 'running');
    pods.fixture.assignPod({ ...pod, metadata: { ...pod.metadata, labels: { zone: 'b' } } });
    await pods.until('the new label', async () => (await logOf('d')) === 'zone="b"\n');
    await end('d');
  });

  pods.law('a projected volume combines several sources', async () => {
    const sources = [
      { configMap: { name: 'c', items: [{ key: 'a', path: 'config/a' }] } },
      { secret: { name: 's' } },
      { secret: { name: 'none', optional: true } },
      { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    ];
    const script = `${bb} cat /v/config/a /v/key /v/name; echo; ${typeOf}`;
    assert.equal(await reads(script, { projected: { sources } }), 'textsecretr\ntmpfs');
  });

  pods.law(
    'subPath and subPathExpr mount one file or one folder, also named by an environment variable',
    async () => {
      assert.equal(
        await reads(
          `${bb} cat /v/one`,
          { configMap: { name: 'c' } },
          { mount: { mountPath: '/v/one', subPath: 'a' } },
        ),
        'text',
      );
      const env = [{ name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }];
      const hostPath = { path: join(pods.folder, 'logs'), type: 'DirectoryOrCreate' };
      await reads(
        `echo line >/v/log`,
        { hostPath },
        { mount: { subPathExpr: 'of-$(NAME)' }, container: { env } },
      );
      assert.deepEqual(readdirSync(join(pods.folder, 'logs/of-r')), ['log']);
    },
  );

  const subPathPod = (name: string, script: string): void => {
    const volumes = [{ name: 'v', emptyDir: {} }];
    const volumeMounts = [{ name: 'v', mountPath: '/v', subPath: 'part' }];
    pods.assignPod(name, [{ name: 'app', image: 'app:1', command: shell(script), volumeMounts }], {
      volumes,
    });
  };
  const subPathMounts = (): string =>
    pods.engine.amongMounts(
      'sh',
      '-c',
      `grep ${pods.fixture.dataDir}/sub-paths /proc/self/mountinfo || true`,
    );

  pods.law(
    'a subPath mount survives a container crash and an agent restart, and is removed with the Pod',
    async () => {
      subPathPod('s', `echo up; until [ -e /v/go ]; do ${bb} usleep 50000; done; echo was here; ${WAIT}`);
      await pods.until('s is up', async () => (await logOf('s')) === 'up\n');
      await pods.fixture.restartAgent();
      const [first] = await pods.fixture.driver.inspectPod('uid-s');
      await pods.fixture.driver.stop(first?.id ?? '', 0);
      await pods.until('a second attempt is up', async () => {
        const seen = await pods.fixture.driver.inspectPod('uid-s');
        return seen.length === 2 && (await logOf('s')) === 'up\n';
      });
      const part = join(podFolders(pods.fixture.dataDir).disk, 'uid-s/volumes/empty-dir/v/part');
      writeFileSync(join(part, 'go'), '');
      await pods.until('the second attempt sees the folder', async () =>
        (await logOf('s')).includes('was here'),
      );
      await end('s');
      assert.equal(subPathMounts(), '');
    },
  );

  pods.law('a container is recreated if a reboot removed the mount that it was created with', async () => {
    const { driver, dataDir } = pods.fixture;
    const created: string[] = [];
    const create = driver.create.bind(driver);
    // An own property, and not a mock: its end would put the method of the class in the place of the wrapper's.
    const createAndReboot = async (...args: Parameters<typeof create>): Promise<string> => {
      const id = await create(...args);
      if (created.length === 0)
        pods.engine.amongMounts('umount', '--recursive', '--lazy', `${dataDir}/sub-paths`);
      created.push(id);
      return id;
    };
    Object.defineProperty(driver, 'create', { value: createAndReboot, configurable: true });
    try {
      subPathPod('b', `echo x >/v/x; ${WAIT}`);
      await pods.until('b runs', () => pods.fixture.state('b') === 'running');
    } finally {
      Reflect.deleteProperty(driver, 'create');
    }
    assert.equal(created.length, 2);
    assert.equal(pods.fixture.container('b')?.restartCount, 0);
    const part = join(podFolders(dataDir).disk, 'uid-b/volumes/empty-dir/v/part');
    await pods.until('b wrote to its volume', () => existsSync(join(part, 'x')));
    await end('b');
    assert.equal(subPathMounts(), '');
  });

  pods.law('a mount made in a container reaches the host only with Bidirectional propagation', async () => {
    const shared = join(pods.folder, 'upward');
    mkdirSync(join(shared, 'below'), { recursive: true });
    const onEngineHost = (command: string) => pods.engine.amongMounts('sh', '-c', command);
    onEngineHost(`mount --bind ${shared} ${shared} && mount --make-rshared ${shared}`);
    const script = `${bb} mount -t tmpfs tmpfs /v/below && echo mounted >/v/below/x`;
    const mountInfo = () => onEngineHost(`grep -c ${shared}/below /proc/self/mountinfo || true`).trim();
    try {
      const volume = { hostPath: { path: shared } };
      // The API requires a privileged container here. The engine of a test machine may not be allowed to create one.
      const container = { securityContext: { capabilities: { add: ['SYS_ADMIN'] } } };
      await reads(script, volume, { container });
      assert.equal(mountInfo(), '0');
      await reads(script, volume, { container, mount: { mountPropagation: 'Bidirectional' } });
      assert.notEqual(mountInfo(), '0');
      assert.equal(onEngineHost(`cat ${shared}/below/x`), 'mounted\n');
    } finally {
      onEngineHost(`umount -R ${shared}`);
    }
  });

  pods.law(
    'a mount made on the host later reaches a container only with HostToContainer propagation',
    async (): Promise<void> => {
      const shared = join(pods.folder, 'shared');
      mkdirSync(join(shared, 'below'), { recursive: true });
      const onEngineHost = (command: string) => pods.engine.amongMounts('sh', '-c', command);
      onEngineHost(`mount --bind ${shared} ${shared} && mount --make-rshared ${shared}`);
      try {
        for (const [mountPropagation, subPath, expected] of [
          ['None', '', ''],
          ['HostToContainer', '', 'tmpfs'],
          ['None', 'shared', ''],
          ['HostToContainer', 'shared', 'tmpfs'],
        ] as const) {
          const script = `echo up; until [ -e /v/go ]; do ${bb} usleep 50000; done; ${bb} awk '$2 == "/v/below" { print $3 }' /proc/mounts; echo END; ${WAIT}`;
          const containers = [
            {
              name: 'app',
              image: 'app:1',
              command: shell(script),
              volumeMounts: [{ name: 'v', mountPath: '/v', mountPropagation, subPath }],
            },
          ];
          pods.fixture.assignPod(
            podOf('m', {
              containers,
              volumes: [{ name: 'v', hostPath: { path: subPath ? pods.folder : shared } }],
              terminationGracePeriodSeconds: 2,
            }),
          );
          await pods.until('m is up', async () => (await logOf('m')).startsWith('up'));
          onEngineHost(`mount -t tmpfs tmpfs ${shared}/below`);
          writeFileSync(join(shared, 'go'), '');
          await pods.until('m has looked', async () => (await logOf('m')).endsWith('END\n'));
          assert.equal(
            (await logOf('m')).split('\n').slice(1, -2).join(),
            expected,
            `${mountPropagation} ${subPath}`,
          );
          onEngineHost(`umount ${shared}/below`);
          rmSync(join(shared, 'go'));
          await end('m');
        }
      } finally {
        onEngineHost(`umount -l ${shared}`);
      }
    },
  );
});
