/**
 * The agent's bind mounts of subPaths, created in the mount namespace of another process, like an engine's. Requires
 * root.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { FileFacts } from '../../../agent/decisions/container-spec/volume-files.js';
import { SANDBOX } from '../../../agent/runtime/runtime-driver.js';
import { HostVolumes } from '../../../agent/volumes/host-volumes.js';
import { removeFolder } from '../../../agent/volumes/pod-folders.js';
import { removeAllVolumes } from '../../../agent/volumes/remove-volumes.js';
import type { Container, Pod, Volume, VolumeMount } from '../../../shared/kube/pods/pod-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { withDirectoryEach } from '../../harness/basics/temporary-directory.js';
import { AS_NOBODY, MountedProcess } from '../../harness/engines/mounted-process.js';

const FACTS: FileFacts = {
  nodeName: 'n',
  hostIP: '',
  podIP: '',
  allocatable: {},
  findConfig: () => undefined,
};

let folder: string;
withDirectoryEach((path) => {
  folder = path;
});

let engine: MountedProcess | string = 'not started';
before(async () => {
  engine = await MountedProcess.start();
});
after(() => {
  if (typeof engine !== 'string') engine.stop();
});

/** Defines a test with a process in the role of the engine. Without one it is skipped by name. */
function law(name: string, body: (engine: MountedProcess, context: TestContext) => Promise<void>): void {
  test(name, async (context) => {
    if (typeof engine === 'string') return leaveOut(context, name, engine);
    try {
      await body(engine, context);
    } finally {
      for (const volumes of agents.splice(0)) await volumes.close();
      // A failed test must not leave its mounts under the folder that is removed.
      engine.run('sh', '-c', `umount -R -l ${folder}/data/sub-paths 2>/dev/null || true`);
    }
  });
}

function podWith(volume: Volume, ...volumeMounts: VolumeMount[]): { pod: Pod; container: Container } {
  const container = { name: 'c', image: 'a', volumeMounts };
  const metadata = { name: 'p', uid: 'uid-p' };
  return {
    pod: { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container], volumes: [volume] } },
    container,
  };
}

const agents: HostVolumes[] = [];

/** A new agent with the data directory of the previous one. */
function newAgent({ pid }: { pid: number }): HostVolumes {
  mkdirSync(join(folder, 'data'), { recursive: true });
  const volumes = new HostVolumes(join(folder, 'data'), async () => [pid]);
  agents.push(volumes);
  return volumes;
}

/** A Pod with a hostPath volume that contains the file `p/file`, and a mount of its subPath `p`. */
function hostPathPod(changes: Partial<VolumeMount> = {}) {
  const path = join(folder, 'volume');
  mkdirSync(join(path, 'p'), { recursive: true });
  writeFileSync(join(path, 'p/file'), 'of the volume');
  return {
    path,
    ...podWith({ name: 'v', hostPath: { path } }, { name: 'v', mountPath: '/v', subPath: 'p', ...changes }),
  };
}

const NO_VARIABLES = new Map<string, string>();

async function mountedAt(
  volumes: HostVolumes,
  { pod, container }: { pod: Pod; container: Container },
): Promise<string> {
  await volumes.prepare(pod, FACTS);
  return (await volumes.mountsOf(pod, container, NO_VARIABLES))[0]?.hostPath ?? '';
}

describe('mounts of subPaths', { concurrency: 1 }, () => {
  law(
    "show the folder in the engine's namespace, outside the volume, and not in the agent's",
    async (engine) => {
      const { path, ...pod } = hostPathPod();
      const place = await mountedAt(newAgent(engine), pod);
      assert.ok(place.startsWith(join(folder, 'data/sub-paths/')), place);
      assert.equal(engine.run('cat', join(place, 'file')), 'of the volume');
      assert.equal(existsSync(place), false);
      // The mount is kept when the name in the volume changes its target.
      rmSync(join(path, 'p'), { recursive: true });
      engine.run('ls', place);
    },
  );

  law('accept a file as well as a folder, and leave files of the agent unchanged', async (engine) => {
    const { pod, container } = hostPathPod({ subPath: 'p/file' });
    const place = await mountedAt(newAgent(engine), { pod, container });
    assert.equal(engine.run('cat', place), 'of the volume');
  });

  law('are removed with the Pod, and the files of the volume are kept', async (engine) => {
    const volumes = newAgent(engine);
    const { path, ...pod } = hostPathPod();
    await mountedAt(volumes, pod);
    await volumes.remove('uid-p');
    assert.deepEqual(engine.mountsBelow(folder), []);
    assert.equal(readFileSync(join(path, 'p/file'), 'utf8'), 'of the volume');
  });

  law('of an unknown Pod are removed after the agent was killed', async (engine) => {
    const { path, ...pod } = hostPathPod();
    await mountedAt(newAgent(engine), pod);
    assert.deepEqual(await newAgent(engine).sweep(() => false), ['uid-p']);
    assert.deepEqual(engine.mountsBelow(folder), []);
    assert.equal(readFileSync(join(path, 'p/file'), 'utf8'), 'of the volume');
  });

  law('are created once for the next attempt of a container, by any agent process', async (engine) => {
    const { path, ...pod } = hostPathPod();
    const first = await mountedAt(newAgent(engine), pod);
    const next = newAgent(engine);
    assert.equal(await next.hasMounts('uid-p', 'c'), true);
    rmSync(join(path, 'p'), { recursive: true });
    mkdirSync(join(path, 'p'));
    writeFileSync(join(path, 'p/file'), 'another');
    assert.equal(await mountedAt(next, pod), first);
    assert.equal(engine.run('cat', join(first, 'file')), 'another');
    assert.deepEqual(engine.mountsBelow(join(folder, 'data/sub-paths')), [first]);
  });

  law(
    'are missing after a reboot, where no mount point remains that could be shown empty',
    async (engine) => {
      const { path: _, ...pod } = hostPathPod();
      const place = await mountedAt(newAgent(engine), pod);
      engine.run('umount', '--recursive', '--lazy', join(folder, 'data/sub-paths'));
      const next = newAgent(engine);
      assert.equal(await next.hasMounts('uid-p', 'c'), false);
      assert.equal(await next.hasMounts('uid-p', SANDBOX), true, 'a sandbox has no mounts to lose');
      assert.throws(() => engine.run('ls', place));
      assert.equal(await mountedAt(next, pod), place);
      assert.equal(await next.hasMounts('uid-p', 'c'), true);
      await next.remove('uid-p');
      assert.deepEqual(engine.mountsBelow(folder), []);
    },
  );

  for (const uid of ['', '..', '../pods', 'x/..']) {
    law(
      `are kept when Pod ${JSON.stringify(uid)} is removed, whose uid is a path to other folders`,
      async (engine) => {
        const volumes = newAgent(engine);
        const { path: _, ...pod } = hostPathPod();
        const place = await mountedAt(volumes, pod);
        const file = join(folder, 'data/versions/1.0.0');
        mkdirSync(dirname(file));
        writeFileSync(file, '');
        await assert.rejects(volumes.remove(uid), /is not the name of a Pod's folder/);
        assert.deepEqual(engine.mountsBelow(join(folder, 'data/sub-paths')), [place]);
        assert.ok(existsSync(file), 'a file of the agent');
      },
    );
  }

  law('are all removed when the host leaves its fleet', async (engine) => {
    const { path, ...pod } = hostPathPod();
    await mountedAt(newAgent(engine), pod);
    const data = join(folder, 'data');
    await removeAllVolumes(data, async () => [engine.pid]);
    assert.deepEqual(engine.mountsBelow(folder), []);
    await removeFolder(data);
    assert.equal(readFileSync(join(path, 'p/file'), 'utf8'), 'of the volume');
  });

  law(
    'with Bidirectional propagation are removed without the mounts of the host below them',
    async (engine) => {
      const { path, ...pod } = hostPathPod({ mountPropagation: 'Bidirectional' });
      engine.run('mount', '--bind', path, path);
      engine.run('mount', '--make-rshared', path);
      const volumes = newAgent(engine);
      const place = await mountedAt(volumes, pod);
      mkdirSync(join(path, 'p/disk'));
      engine.run('mount', '-t', 'tmpfs', 'tmpfs', join(path, 'p/disk'));
      assert.ok(
        engine.mountsBelow(place).includes(join(place, 'disk')),
        'the mount of the host is seen in the copy',
      );
      const ofTheHost = engine.mountsBelow(path);
      await volumes.remove('uid-p');
      assert.deepEqual(engine.mountsBelow(join(folder, 'data')), []);
      assert.deepEqual(engine.mountsBelow(path), ofTheHost);
      engine.run('umount', '--recursive', '--lazy', path);
    },
  );
});

describe('no program is run for a process that only imitates the engine', { concurrency: 1 }, () => {
  /** Replaces `mount` by an attacker's program, which writes `mark` if the agent runs it. */
  function trap(mark: string, root = ''): string {
    const program = join(folder, 'trap');
    writeFileSync(program, `#!/bin/sh\necho run >>${mark}\n`, { mode: 0o755 });
    return `mount --bind ${program} ${root}/usr/bin/mount`;
  }

  async function isRefused(context: TestContext, script: string, as?: string[]): Promise<void> {
    const mark = join(folder, 'mark');
    const attacker = await MountedProcess.start(script, as);
    if (typeof attacker === 'string') return leaveOut(context, context.name, attacker);
    try {
      const { path: _, ...pod } = hostPathPod();
      const error: unknown = await mountedAt(newAgent(attacker), pod).catch((reason: unknown) => reason);
      assert.equal(existsSync(mark), false, 'the program of the attacker ran as root');
      assert.match(String(error), /the engine's process was not found/);
    } finally {
      attacker.stop();
    }
  }

  /** A new root directory with the host's programs, and with the host's data directory. */
  function containerRoot(): string {
    const [root, data] = [join(folder, 'root'), join(folder, 'data')];
    mkdirSync(root);
    mkdirSync(data, { recursive: true });
    return [
      `mount -t tmpfs tmpfs ${root}`,
      `for d in usr lib lib64 bin sbin dev proc; do mkdir ${root}/$d; mount --rbind /$d ${root}/$d; done`,
      `mkdir -p ${root}${folder} ${root}${data}`,
      `mount --bind ${folder} ${root}${folder}`,
    ].join(' && ');
  }

  law('when a user of the host listens in its own user namespace', async (_engine, context) => {
    chmodSync(folder, 0o777);
    await isRefused(context, trap(join(folder, 'mark')), AS_NOBODY);
  });

  law('when a container sees the data directory by a hostPath', async (_engine, context) => {
    const root = join(folder, 'root');
    const enter = `mkdir ${root}/old && cd ${root} && pivot_root . old && cd /`;
    const script = `mount --make-rprivate / && ${containerRoot()} && ${trap(join(folder, 'mark'), root)} && ${enter}`;
    await isRefused(context, script);
  });

  law(
    "when a container enters the host's root directory, which it sees by a hostPath",
    async (_engine, context) => {
      const host = join(folder, 'host');
      mkdirSync(host);
      mkdirSync(join(folder, 'data'));
      const script = `mount --make-rprivate / && mount --rbind / ${host} && ${trap(join(folder, 'mark'))}`;
      // Reported only inside the new root directory, because the process has the host's root before.
      const inside = 'echo ready && exec sleep infinity';
      await isRefused(context, `${script} && exec chroot ${host} sh -c '${inside}'`);
    },
  );
});

describe('a host that cannot mount a subPath reports it on the Pod', { concurrency: 1 }, () => {
  const what = 'failed to prepare subPath for volumeMount "v" of container "c": ';

  law("when no process with the agent's view is found", async () => {
    mkdirSync(join(folder, 'data'));
    // Like a container, with a file system of its own instead of the host's.
    const elsewhere = await MountedProcess.start(`mount -t tmpfs tmpfs ${join(folder, 'data')}`);
    assert.ok(typeof elsewhere !== 'string', String(elsewhere));
    try {
      const { path: _, ...pod } = hostPathPod();
      await assert.rejects(mountedAt(newAgent(elsewhere), pod), {
        name: 'VolumeError',
        message: `${what}the engine's process was not found on this host: it must listen on a Unix socket, and have the same root directory, data directory and user namespace as the agent; mount the whole volume`,
      });
    } finally {
      elsewhere.stop();
    }
  });

  law('when it does not run as root', async (engine) => {
    const { path: _, ...pod } = hostPathPod();
    const { getuid } = process;
    process.getuid = () => 1000;
    try {
      await assert.rejects(mountedAt(newAgent(engine), pod), {
        name: 'VolumeError',
        message: `${what}the agent does not run as root, so it cannot keep a container from replacing the path by a link to files of the host; mount the whole volume`,
      });
    } finally {
      process.getuid = getuid;
    }
  });
});

test('a folder with a mount in it is not removed, and neither is the mounted content', async (context) => {
  if (process.getuid?.() !== 0) return leaveOut(context, 'removal of a folder with a mount', 'needs root');
  const { run } = await import('../../harness/processes/run-system-command.js');
  const [pod, disk] = [join(folder, 'pod'), join(folder, 'disk')];
  mkdirSync(join(pod, 'volume'), { recursive: true });
  mkdirSync(disk);
  writeFileSync(join(disk, 'file'), 'of the disk');
  try {
    run('mount', '--bind', disk, join(pod, 'volume'));
  } catch {
    return leaveOut(context, 'removal of a folder with a mount', 'this machine allows no mounts');
  }
  try {
    await assert.rejects(removeFolder(pod), /something is mounted at .*\/pod\/volume; unmount it first/);
    assert.equal(readFileSync(join(disk, 'file'), 'utf8'), 'of the disk');
  } finally {
    run('umount', join(pod, 'volume'));
  }
  await removeFolder(pod);
  assert.equal(existsSync(pod), false);
});

test('folders of unknown Pods are removed next to one that cannot be', async (context) => {
  if (process.getuid?.() !== 0)
    return leaveOut(context, 'removal next to a folder with a mount', 'needs root');
  const { run } = await import('../../harness/processes/run-system-command.js');
  const pods = join(folder, 'data/pods');
  const uids = ['a', 'b', 'c'];
  for (const uid of uids) mkdirSync(join(pods, uid, 'volumes'), { recursive: true });
  try {
    for (const uid of ['a', 'c']) run('mount', '-t', 'tmpfs', 'tmpfs', join(pods, uid, 'volumes'));
  } catch {
    return leaveOut(context, 'removal next to a folder with a mount', 'this machine allows no mounts');
  }
  const volumes = new HostVolumes(join(folder, 'data'), async () => []);
  try {
    await assert.rejects(
      volumes.sweep(() => false),
      /something is mounted at .*\/a\/volumes.*\/c\/volumes/,
    );
    assert.deepEqual(
      uids.map((uid) => existsSync(join(pods, uid))),
      [true, false, true],
    );
  } finally {
    for (const uid of ['a', 'c']) run('umount', join(pods, uid, 'volumes'));
    await volumes.close();
  }
});
