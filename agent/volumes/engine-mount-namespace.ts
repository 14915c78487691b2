/**
 * The mount namespace in which the engine starts containers. The agent often has another one, because systemd hardens
 * its service. The engine does not see mounts in the agent's namespace.
 */
import { spawn } from 'node:child_process';
import { type FileHandle, open, readFile, readlink } from 'node:fs/promises';
import { FileDescriptor } from './file-descriptor.js';
import { openBeneath, WHOLE_HOST } from './open-beneath.js';

/** Finds ids of processes that may be the engine's, the likeliest first. */
export type FindProcesses = () => Promise<readonly number[]>;

/** A command that hangs, such as on a dead network file system, must not block the Pod's worker for ever. */
const COMMAND_TIMEOUT_MS = 30_000;

/** The open files stay valid when the process exits and another process gets its id. */
interface Found {
  pid: number;
  startTime: string;
  namespace: FileHandle;
  root: FileDescriptor;
}

export class EngineMountNamespace {
  readonly #findProcesses: FindProcesses;
  readonly #dataDir: string;
  #found: Found | undefined;
  /** Found before the engine was restarted. Closed one search later, because a call may still use it. */
  #former: Found | undefined;
  /** Searches run one at a time. */
  #searching: Promise<Found> | undefined;

  constructor(dataDir: string, findProcesses: FindProcesses) {
    this.#dataDir = dataDir;
    this.#findProcesses = findProcesses;
  }

  /** Opens a path as the engine sees it, for the caller to close. Throws an Error with the reason. */
  async open(path: string): Promise<FileDescriptor> {
    const { root } = await this.#current();
    return openBeneath(root, path, WHOLE_HOST);
  }

  /**
   * Runs a command of the host among the engine's mounts and returns its output. `source` is open in it as
   * `/proc/self/fd/4`. Throws an Error with the command's error output when it fails.
   */
  async run(command: readonly string[], source?: FileDescriptor): Promise<string> {
    const { namespace } = await this.#current();
    return runWith(
      ['nsenter', '--mount=/proc/self/fd/3', ...command],
      [namespace.fd, ...(source ? [source.fd] : [])],
    );
  }

  /** The caller makes sure that no call is in progress. */
  async close(): Promise<void> {
    const open = [this.#found, this.#former];
    this.#found = undefined;
    this.#former = undefined;
    await Promise.all(open.map(release));
  }

  /** A restarted engine may have other mounts. */
  async #current(): Promise<Found> {
    const found = this.#found;
    if (found && (await startTimeOf(found.pid)) === found.startTime) return found;
    this.#searching ??= this.#search().finally(() => {
      this.#searching = undefined;
    });
    return this.#searching;
  }

  async #search(): Promise<Found> {
    if (process.getuid?.() !== 0) throw new Error(WITHOUT_ROOT);
    await release(this.#former);
    this.#former = this.#found;
    this.#found = undefined;
    for (const pid of await this.#findProcesses()) {
      const found = await this.#pin(pid).catch(() => undefined);
      if (!found) continue;
      this.#found = found;
      return found;
    }
    throw new Error(WITHOUT_ENGINE);
  }

  /**
   * Every user and every container can run a process that listens under the engine's path, in a mount namespace of its
   * own. A command in that namespace would run that process's programs as root. So only a namespace that needs root of
   * the host is accepted: one with the host's root directory, in the agent's user namespace.
   */
  async #pin(pid: number): Promise<Found | undefined> {
    const startTime = await startTimeOf(pid);
    const namespace = await open(`/proc/${pid}/ns/mnt`, 'r');
    let root: FileDescriptor | undefined;
    try {
      // Checked after the namespace was opened: a process that has left the agent's user namespace cannot return to it.
      if (await sharesUserNamespace(pid)) {
        root = await FileDescriptor.open(`/proc/${pid}/root`);
        const isHost = (await isHostRoot(root)) && (await this.#seesData(root));
        if (isHost && startTime !== undefined && (await startTimeOf(pid)) === startTime) {
          return { pid, startTime, namespace, root };
        }
      }
    } catch {
      // The process has exited, or it does not see the agent's files.
    }
    await namespace.close();
    await root?.close();
    return undefined;
  }

  /** Mounts are made in the data directory, so the agent and the engine must have the same one. */
  async #seesData(root: FileDescriptor): Promise<boolean> {
    const theirs = await openBeneath(root, this.#dataDir, WHOLE_HOST);
    try {
      return await isFileAt(theirs, this.#dataDir);
    } finally {
      await theirs.close();
    }
  }
}

async function sharesUserNamespace(pid: number): Promise<boolean> {
  return (await readlink(`/proc/${pid}/ns/user`)) === (await readlink('/proc/self/ns/user'));
}

/**
 * Returns whether `root` is the agent's root directory, at the root of its mount namespace. A container with a mount of
 * the host's root can chroot into it, but its mount namespace still leads to the container's own files.
 */
async function isHostRoot(root: FileDescriptor): Promise<boolean> {
  return (await readlink(root.path)) === '/' && isFileAt(root, '/');
}

async function isFileAt(found: FileDescriptor, path: string): Promise<boolean> {
  const ours = await FileDescriptor.open(path);
  try {
    return ours.isSameFile(found);
  } finally {
    await ours.close();
  }
}

async function release(found: Found | undefined): Promise<void> {
  await found?.namespace.close();
  await found?.root.close();
}

const WITHOUT_ROOT =
  'the agent does not run as root, so it cannot keep a container from replacing the path by a link to files of the host; mount the whole volume';

const WITHOUT_ENGINE =
  "the engine's process was not found on this host: it must listen on a Unix socket, and have the same root directory, data directory and user namespace as the agent; mount the whole volume";

/** Tells apart two processes with the same id. Undefined when there is no such process. */
async function startTimeOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name, in brackets, may contain anything.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function runWith(
  [program = '', ...args]: readonly string[],
  descriptors: readonly number[],
): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe', ...descriptors],
      // Only the host's own program folders. Messages in English.
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
      timeout: COMMAND_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    let output = '';
    let errorOutput = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errorOutput += text;
    });
    child.on('error', fail);
    child.on('close', (code) => {
      if (code === 0) done(output);
      else fail(new Error(errorOutput.trim() || `${program} ended with ${code}`));
    });
  });
}
