import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { FileFacts } from '../../../agent/decisions/container-spec/volume-files.js';
import { prepareHostPath } from '../../../agent/volumes/host-path-volume.js';
import { HostVolumes } from '../../../agent/volumes/host-volumes.js';
import { NO_ENGINE } from '../../../agent/volumes/sub-path-preparation.js';
import type { Pod, Volume, VolumeMount } from '../../../shared/kube/pods/pod-types.js';
import { withDirectoryEach } from '../../harness/basics/temporary-directory.js';

let folder: string;
withDirectoryEach((path) => {
  folder = path;
});

describe('hostPath', () => {
  const present = {
    directory: () => folder,
    file: () => {
      writeFileSync(join(folder, 'file'), '');
      return join(folder, 'file');
    },
    missing: () => join(folder, 'none'),
    device: () => '/dev/null',
  };
  const cases: [type: string, what: keyof typeof present, refusal: string | undefined][] = [
    ['', 'directory', undefined],
    ['', 'file', undefined],
    ['Directory', 'directory', undefined],
    ['Directory', 'file', 'is not a directory'],
    ['Directory', 'missing', 'is not a directory'],
    ['DirectoryOrCreate', 'file', 'is not a directory'],
    ['File', 'file', undefined],
    ['File', 'directory', 'is not a file'],
    ['File', 'missing', 'is not a file'],
    ['FileOrCreate', 'directory', 'is not a file'],
    ['Socket', 'file', 'is not a socket file'],
    ['Socket', 'missing', 'is not a socket file'],
    ['CharDevice', 'device', undefined],
    ['CharDevice', 'file', 'is not a character device'],
    ['BlockDevice', 'device', 'is not a block device'],
  ];
  for (const [type, what, refusal] of cases) {
    test(`type ${JSON.stringify(type)} on a ${what}: ${refusal ?? 'taken'}`, async () => {
      const path = present[what]();
      const prepared = prepareHostPath({ path, type });
      if (refusal === undefined) return prepared;
      await assert.rejects(prepared, { message: `hostPath type check failed: ${path} ${refusal}` });
    });
  }

  test('creates the path of its type, and a directory without a type', async () => {
    const path = (name: string) => join(folder, name);
    await prepareHostPath({ path: path('plain/deep') });
    await prepareHostPath({ path: path('dir/deep'), type: 'DirectoryOrCreate' });
    await prepareHostPath({ path: path('file'), type: 'FileOrCreate' });
    assert.ok(statSync(path('plain/deep')).isDirectory());
    assert.equal(statSync(path('dir/deep')).mode & 0o777, 0o755);
    assert.ok(statSync(path('file')).isFile());
  });

  test('accepts a socket as Socket', async () => {
    const path = join(folder, 's');
    const server = createServer().listen(path);
    await prepareHostPath({ path, type: 'Socket' });
    server.close();
  });

  test('rejects an unknown type', async () => {
    await assert.rejects(prepareHostPath({ path: folder, type: 'Pipe' }), /Pipe is an invalid volume type/);
  });

  test('a missing directory of the kubelet is created for a daemon that requires it, and no other one is', async () => {
    const path = (name: string) => join(folder, name);
    const own = new Set([path('kubelet/pods')]);
    await prepareHostPath({ path: `${path('kubelet/pods')}/`, type: 'Directory' }, own);
    assert.ok(statSync(path('kubelet/pods')).isDirectory());
    const other = { path: path('kubelet/other'), type: 'Directory' };
    await assert.rejects(prepareHostPath(other, own), /hostPath type check failed: .* is not a directory/);
    const file = { path: path('kubelet/pods'), type: 'File' };
    await assert.rejects(prepareHostPath(file, own), /is not a file/);
  });
});

/** A host with one ConfigMap and one Secret, both named `there`. */
const FACTS: FileFacts = {
  nodeName: 'n',
  hostIP: '',
  podIP: '',
  allocatable: {},
  findConfig: ({ kind, name }) => {
    if (name !== 'there') return undefined;
    const object = { apiVersion: 'v1', kind, metadata: { name } };
    const text = `${kind}/${name}`;
    return { ...object, data: { key: kind === 'Secret' ? Buffer.from(text).toString('base64') : text } };
  },
};

describe('volumes of a Pod', () => {
  function podOf(volumes: Volume[], ...mountLists: VolumeMount[][]): Pod {
    const containers = mountLists.map((volumeMounts, at) => ({ name: `c${at}`, image: 'a', volumeMounts }));
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', uid: 'uid-v' },
      spec: { containers, volumes },
    };
  }
  const mount = (changes: Partial<VolumeMount> = {}): VolumeMount => ({
    name: 'v',
    mountPath: '/v',
    ...changes,
  });

  async function prepared(pod: Pod) {
    const volumes = new HostVolumes(folder, NO_ENGINE);
    await volumes.prepare(pod, FACTS);
    const [first] = pod.spec.containers;
    assert.ok(first);
    return { volumes, mounts: await volumes.mountsOf(pod, first, new Map([['NAME', 'expanded']])) };
  }

  test('hostPath is the path itself, with its mode and propagation', async () => {
    const pod = podOf(
      [{ name: 'v', hostPath: { path: folder } }],
      [mount({ readOnly: true, mountPropagation: 'HostToContainer' })],
    );
    assert.deepEqual((await prepared(pod)).mounts, [
      { containerPath: '/v', readOnly: true, propagation: 'rslave', hostPath: folder },
    ]);
  });

  test('emptyDir is a world-writable folder, and is removed with the Pod', async () => {
    const { volumes, mounts } = await prepared(podOf([{ name: 'v', emptyDir: {} }], [mount()]));
    const path = mounts[0]?.hostPath ?? '';
    assert.equal(statSync(path).mode & 0o777, 0o777);
    await volumes.remove('uid-v');
    assert.equal(existsSync(path), false);
  });

  test('an emptyDir in memory is one folder for all containers, in memory, private to its owner', async () => {
    const pod = podOf([{ name: 'v', emptyDir: { medium: 'Memory' } }], [mount()], [mount()]);
    const { volumes, mounts } = await prepared(pod);
    const path = mounts[0]?.hostPath ?? '';
    const root = `/dev/shm/everynode-${userInfo().uid}/`;
    assert.ok(path.startsWith(root));
    assert.equal(lstatSync(root).mode & 0o777, 0o700);
    await volumes.remove('uid-v');
    assert.equal(existsSync(path), false);
  });

  test('a Secret is in memory and read-only, a ConfigMap on disk; both are removed with the Pod', async () => {
    const pod = podOf(
      [
        { name: 's', secret: { secretName: 'there', defaultMode: 0o400 } },
        { name: 'c', configMap: { name: 'there' } },
      ],
      [mount({ name: 's' }), mount({ name: 'c' })],
    );
    const { volumes, mounts } = await prepared(pod);
    const [secret = '', configMap = ''] = mounts.map(({ hostPath }) => hostPath);
    assert.ok(secret.startsWith('/dev/shm/'));
    assert.ok(configMap.startsWith(folder));
    assert.deepEqual(
      mounts.map(({ readOnly }) => readOnly),
      [true, true],
    );
    assert.equal(readFileSync(join(secret, 'key'), 'utf8'), 'Secret/there');
    assert.equal(statSync(join(secret, 'key')).mode & 0o777, 0o400);
    assert.equal(readFileSync(join(configMap, 'key'), 'utf8'), 'ConfigMap/there');
    await volumes.remove('uid-v');
    assert.deepEqual([existsSync(secret), existsSync(configMap)], [false, false]);
  });

  test('a missing object is named as the API names it', async () => {
    const pod = podOf([{ name: 'v', secret: { secretName: 'none' } }], [mount()]);
    await assert.rejects(prepared(pod), {
      message: 'MountVolume.SetUp failed for volume "v" : secret "none" not found',
    });
  });

  const paths: [subPathExpr: string, result: string | RegExp][] = [
    ['logs/$(NAME)', 'logs/expanded'],
    ['$$(NAME)', '$(NAME)'],
    ['$(NONE)', /^missing value for "NONE"$/],
    ['/$(NAME)', /^error SubPath "\/expanded" must not be an absolute path$/],
    ['a/../$(NAME)', /^unable to provision SubPath "a\/..\/expanded": must not contain '..'$/],
  ];
  for (const [subPathExpr, result] of paths) {
    test(`subPathExpr ${subPathExpr}`, async () => {
      const pod = podOf([{ name: 'v', hostPath: { path: folder } }], [mount({ subPathExpr })]);
      if (result instanceof RegExp) await assert.rejects(prepared(pod), { message: result });
      else assert.equal((await prepared(pod)).mounts[0]?.hostPath, join(folder, result));
    });
  }

  test('a subPath of a ConfigMap is its current file', async () => {
    const pod = podOf([{ name: 'v', configMap: { name: 'there' } }], [mount({ subPath: 'key' })]);
    const path = (await prepared(pod)).mounts[0]?.hostPath ?? '';
    assert.equal(lstatSync(path).isFile(), true);
    assert.equal(readFileSync(path, 'utf8'), 'ConfigMap/there');
  });

  test('a subPath is created inside the volume', async () => {
    const pod = podOf([{ name: 'v', hostPath: { path: folder } }], [mount({ subPath: 'a/b' })]);
    assert.equal((await prepared(pod)).mounts[0]?.hostPath, join(folder, 'a/b'));
    assert.ok(lstatSync(join(folder, 'a/b')).isDirectory());
  });

  test('a subPath that a link leads out of the volume is rejected', async () => {
    mkdirSync(join(folder, 'volume'));
    symlinkSync('/etc', join(folder, 'volume/out'));
    const pod = podOf(
      [{ name: 'v', hostPath: { path: join(folder, 'volume') } }],
      [mount({ subPath: 'out' })],
    );
    await assert.rejects(prepared(pod), {
      message: 'failed to prepare subPath for volumeMount "v" of container "c0"',
    });
  });

  test("a uid that is a path out of the Pods' folder removes nothing", async () => {
    const volumes = new HostVolumes(join(folder, 'data'), NO_ENGINE);
    mkdirSync(join(folder, 'data/pods'), { recursive: true });
    mkdirSync(join(folder, 'host'));
    await assert.rejects(volumes.remove('../../host'), /is not the name of a file/);
    assert.ok(existsSync(join(folder, 'host')));
  });

  test("an unavailable volume is reported with a kubelet's message", async () => {
    const hostPath = { path: '/nowhere/x', type: 'Directory' };
    await assert.rejects(
      new HostVolumes(folder, NO_ENGINE).prepare(podOf([{ name: 'v', hostPath }]), FACTS),
      {
        message:
          'MountVolume.SetUp failed for volume "v" : hostPath type check failed: /nowhere/x is not a directory',
      },
    );
  });

  test('an unsupported source is named', async () => {
    const pod = podOf([{ name: 'v', iscsi: {} }]);
    await assert.rejects(new HostVolumes(folder, NO_ENGINE).prepare(pod, FACTS), /iscsi is not supported/);
  });
});
