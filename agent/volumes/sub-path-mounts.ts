/**
 * Bind mounts for `subPath` (pkg/volume/util/subpath doBindSubPath). The engine resolves a path again when it starts a
 * container, and another container may have put a link there by then. So the engine gets a mount of the very file that
 * the agent opened, at a place that no container sees.
 *
 * The mounts are on a file system in memory, which is mounted at `DATA/sub-paths` in the engine's mount namespace.
 * After a reboot it is empty, so the engine refuses to start a container without its mount instead of showing it an
 * empty folder.
 */
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SANDBOX } from '../runtime/runtime-driver.js';
import { EngineMountNamespace, type FindProcesses } from './engine-mount-namespace.js';
import { makeFolders } from './ensure-folder.js';
import type { FileDescriptor } from './file-descriptor.js';

/** Place of a container's mount. `index` is its position in the container's list. */
interface SubPathPlace {
  podUid: string;
  container: string;
  index: number;
}

/** Defines whether later mounts in the folder reach the container, and the host. */
const PROPAGATION: Record<string, readonly string[]> = {
  private: ['--make-private'],
  rslave: ['--make-slave'],
  rshared: [],
};

export class SubPathMounts {
  readonly #dataDir: string;
  readonly #stage: string;
  readonly #engine: EngineMountNamespace;
  #last: Promise<unknown> = Promise.resolve();

  constructor(dataDir: string, findProcesses: FindProcesses) {
    // The kernel lists mounts by paths without links.
    this.#dataDir = realpathSync(dataDir);
    this.#stage = join(this.#dataDir, 'sub-paths');
    this.#engine = new EngineMountNamespace(this.#dataDir, findProcesses);
  }

  /** Opens a path as the engine sees it. Throws an Error that names what the host lacks. */
  openOnHost(path: string): Promise<FileDescriptor> {
    return this.#engine.open(path);
  }

  /** Returns the path of the mount on the host. Throws an Error that names what the host lacks. */
  bind(source: FileDescriptor, place: SubPathPlace, propagation: string): Promise<string> {
    return this.#alone(async () => {
      await makeFolders(join(this.#markOf(place.podUid), place.container, String(place.index)), 0o700);
      await this.#makeStage();
      const target = this.#targetOf(place);
      await this.#makeTarget(place, source.isFolder);
      const options = ['--no-canonicalize', '--bind', ...(PROPAGATION[propagation] ?? [])];
      await this.#engine.run(['mount', ...options, '/proc/self/fd/4', target], source);
      const isSame = await this.#with(target, async (mounted) => mounted.isSameFile(source));
      if (!isSame) throw new Error(`the file mounted at ${target} is not the opened one`);
      return target;
    });
  }

  /** Returns whether all mounts of the container still exist. A reboot removes them. */
  async areMounted(podUid: string, container: string): Promise<boolean> {
    const marks = join(this.#markOf(podUid), container);
    // A sandbox mounts no volumes. Its name is empty: `marks` would be the folder of all containers.
    if (container === SANDBOX || !existsSync(marks)) return true;
    for (const index of await readdir(marks)) {
      if (!(await this.#isMount(join(this.#stage, podUid, container, index)))) return false;
    }
    return true;
  }

  /** Removes the mounts of a Pod, or those of one of its containers. A running container keeps its own copies. */
  async remove(podUid: string, container = ''): Promise<void> {
    const marks = join(this.#markOf(podUid), container);
    // Most Pods have none: skip the engine's namespace then.
    if (!existsSync(marks)) return;
    await this.#alone(() => this.#removeBelow(podUid, container));
    await rm(marks, { recursive: true, force: true }).catch(unlessReadOnly);
  }

  /** Removes all mounts. Throws an Error if one remains: it would expose the volume's files to removal. */
  async removeAll(): Promise<void> {
    if (!existsSync(this.#stage)) return;
    await this.#alone(async () => {
      if (!(await this.#isMount(this.#stage))) return;
      await this.#unmountBelow(this.#stage);
      await this.#engine.run(['umount', '--lazy', this.#stage]);
    });
  }

  async #removeBelow(podUid: string, container: string): Promise<void> {
    if (!(await this.#isMount(this.#stage))) return;
    await this.#unmountBelow(join(this.#stage, podUid, container));
    await this.#removeTargets(podUid, container);
    if ((await this.#namesIn(this.#stage)).length === 0)
      await this.#engine.run(['umount', '--lazy', this.#stage]);
  }

  /**
   * Runs in the engine's namespace: the agent's own namespace may have copies of these mounts, and the kernel refuses
   * to remove a folder on which the calling process has a mount. Never removes a target's content: if it were still
   * mounted, the volume's files would be lost.
   */
  async #removeTargets(podUid: string, container: string): Promise<void> {
    const pod = join(this.#stage, podUid);
    const containers = container === '' ? await this.#namesIn(pod) : [container];
    for (const folder of containers.map((name) => join(pod, name))) {
      const targets = (await this.#namesIn(folder)).map((name) => join(folder, name));
      await this.#engine.run(['rm', '--dir', '--force', '--', ...targets, folder]);
    }
    if (container === '') await this.#engine.run(['rm', '--dir', '--force', '--', pod]);
  }

  async #namesIn(folder: string): Promise<string[]> {
    return (await this.#with(folder, (found) => readdir(found.path))) ?? [];
  }

  /** Waits for calls in progress. */
  async close(): Promise<void> {
    await this.#alone(() => this.#engine.close());
  }

  /** Runs calls one after the other. Otherwise one could unmount the stage between the steps of a mount in it. */
  #alone<T>(run: () => Promise<T>): Promise<T> {
    const next = this.#last.then(run);
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** A folder on disk for each mount, so that a restarted agent knows which mounts must exist. */
  #markOf(podUid: string): string {
    // The uid may come from a label of another program's container.
    if (podUid === '' || podUid === '..' || basename(podUid) !== podUid) {
      throw new Error(`${JSON.stringify(podUid)} is not the name of a Pod's folder`);
    }
    return join(this.#dataDir, 'pods', podUid, 'sub-paths');
  }

  #targetOf({ podUid, container, index }: SubPathPlace): string {
    return join(this.#stage, podUid, container, String(index));
  }

  async #makeStage(): Promise<void> {
    await makeFolders(this.#stage, 0o700);
    if (await this.#isMount(this.#stage)) return;
    const options = 'mode=0700,nosuid,nodev,noexec';
    await this.#engine.run(['mount', '-t', 'tmpfs', '-o', options, 'everynode-sub-paths', this.#stage]);
  }

  /** A folder can only be mounted on a folder, and a file on a file. */
  async #makeTarget({ podUid, container, index }: SubPathPlace, isFolder: boolean): Promise<void> {
    await this.#with(this.#stage, async (stage) => {
      const folder = join(stage.path, podUid, container);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const target = join(folder, String(index));
      if (isFolder) await mkdir(target, { mode: 0o700 });
      else await writeFile(target, '', { mode: 0o600, flag: 'wx' });
    });
  }

  /** Makes mounts private first: otherwise shared mounts in a volume are unmounted on the host, too. */
  async #unmountBelow(folder: string): Promise<void> {
    const points = mountPoints(await this.#engine.run(['cat', '/proc/self/mountinfo']));
    for (const point of points.filter((one) => this.#isTarget(one) && one.startsWith(`${folder}/`))) {
      await this.#engine.run(['mount', '--make-rprivate', point]);
      await this.#engine.run(['umount', '--no-canonicalize', '--lazy', point]);
    }
  }

  #isTarget(point: string): boolean {
    return point.startsWith(`${this.#stage}/`) && point.slice(this.#stage.length).split('/').length === 4;
  }

  async #isMount(path: string): Promise<boolean> {
    const around = await this.#with(dirname(path), (folder) => folder.mountId());
    const inside = await this.#with(path, (found) => found.mountId());
    return inside !== undefined && inside !== around;
  }

  /** Returns undefined when there is no such path. */
  async #with<T>(path: string, use: (found: FileDescriptor) => Promise<T>): Promise<T | undefined> {
    let found: FileDescriptor;
    try {
      found = await this.#engine.open(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    try {
      return await use(found);
    } finally {
      await found.close();
    }
  }
}

/** On a read-only disk the marks stay until the Pod's folder can be removed. */
function unlessReadOnly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EROFS') throw error;
}

/** Returns mount points, newest first: a mount below another must be unmounted before it. */
function mountPoints(mountInfo: string): string[] {
  const lines = mountInfo.split('\n').filter((line) => line !== '');
  return lines.map((line) => unescaped(line.split(' ')[4] ?? '')).reverse();
}

/** The kernel writes spaces, tabs, line ends and backslashes in octal. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
