/**
 * Container engines for tests. Each listens on a socket in a temporary folder, runs in its own network namespace and is
 * stopped by process id. Other engines on the machine are not used or changed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DockerApi } from '../../../agent/runtime/docker/docker-api.js';
import { askEngine } from '../../../agent/runtime/docker/find-engine.js';
import { run } from '../processes/run-system-command.js';
import { containerdCommand, dockerCommand, podmanCommand } from './engine-commands.js';
import { type EngineNetwork, makeNetwork, removeNetwork } from './engine-network.js';
import { endProcessesBelow, readIfThere, removeEngineFolder } from './engine-remains.js';

export type EngineKind = 'docker' | 'podman';

export interface TestEngine {
  kind: EngineKind;
  /** With the prefix `unix://` it is a DOCKER_HOST. */
  socketPath: string;
  /** Address at which the host ports of its containers are reachable. */
  address: string;
  /** Address of this machine as seen from the engine's host. */
  gateway: string;
  /** Command prefix that runs a command on the engine's host. */
  readonly enter: readonly string[];
  /** Runs a command where `127.0.0.1` is the engine's host. Returns its output. */
  onHost(...command: string[]): string;
  /** Runs a command in the engine's mount namespace. Returns its output. */
  amongMounts(...command: string[]): string;
  /** Starts a command on the engine's host. It is stopped after the tests. */
  spawnOnHost(...command: string[]): ChildProcess;
  /** Returns a container's processes, by their ids on this machine. */
  processesOf(containerID: string): number[];
  /** Network namespace in which the addresses of its containers are reachable, as a path for `nsenter --net`. */
  readonly networkNamespace: string;
  /** Returns the engine's `/proc/mounts`, without the networks of other tests. */
  mounts(): string[];
  /** Sends SIGKILL to the engine. Its containers stay as the engine leaves them. */
  kill(): Promise<void>;
  /**
   * Stops the engine in order and starts it again, like a service manager. An upgrade restarts containerd too. Docker
   * stops its containers unless live-restore is set.
   */
  restart(as: 'restart' | 'upgrade'): Promise<void>;
  /** True if containers survive the engine. */
  readonly keepsContainers: boolean;
  /** Kills the engine, removes a container's storage record as a kill of Podman may do, and starts it again. */
  loseStorage(containerID: string): Promise<void>;
  /** Stops its process, which then accepts connections without answering, or continues it. */
  hang(hangs: boolean): void;
  /** Starts the engine again on the same data. */
  start(): Promise<void>;
  /** Stops the engine with all its containers and removes its data. */
  stop(): Promise<void>;
}

/** Matches a line of `/proc/mounts` that mounts the network namespace of a test. */
const TEST_NETWORK = / \/run\/netns\/en\d+-\d+ /;

const NEEDED: Record<EngineKind, string[]> = {
  docker: ['/usr/sbin/dockerd', '/usr/sbin/iptables'],
  podman: ['/usr/bin/podman', '/usr/bin/crun', '/usr/bin/conmon', '/usr/lib/podman/netavark'],
};
const START_MS = 60_000;
let count = 0;

/** Returns the reason why this machine cannot run such an engine, or undefined. */
function whyNoEngine(kind: EngineKind): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root';
  const missing = [...NEEDED[kind], '/bin/busybox', '/sbin/ip'].filter((path) => !existsSync(path));
  return missing.length > 0 ? `needs ${missing.join(', ')} (see .ci/packages)` : undefined;
}

export interface EngineOptions {
  /** Docker's setting that keeps containers running while the engine is down. Podman's always keep running. */
  liveRestore?: boolean;
}

/** Starts an engine without images. Resolves with a reason where that is impossible. */
export async function startEngine(
  kind: EngineKind,
  { liveRestore = false }: EngineOptions = {},
): Promise<TestEngine | string> {
  const why = whyNoEngine(kind);
  if (why !== undefined) return why;
  count += 1;
  const folder = mkdtempSync(join(tmpdir(), `everynode-${kind}-`));
  const network = makeNetwork(`en${process.pid}-${count}`, count);
  const engine = new OwnEngine(kind, folder, network, liveRestore);
  try {
    await engine.start();
  } catch (error) {
    await engine.stop();
    return error instanceof Error ? error.message : String(error);
  }
  return engine;
}

class OwnEngine implements TestEngine {
  readonly socketPath: string;
  readonly address: string;
  readonly gateway: string;
  #engine: ChildProcess | undefined;
  /** Docker's containerd, in a separate process as in every installation, so that it survives dockerd. */
  #containerd: ChildProcess | undefined;
  /** Keeps the engine's mounts, such as its containers' network namespaces, over a kill of the engine. */
  #mounts: ChildProcess | undefined;

  constructor(
    readonly kind: EngineKind,
    private readonly folder: string,
    private readonly network: EngineNetwork,
    private readonly liveRestore: boolean,
  ) {
    this.socketPath = join(folder, 'engine.sock');
    this.address = network.address;
    this.gateway = network.gateway;
  }

  get enter(): string[] {
    return ['nsenter', `--net=/run/netns/${this.network.name}`];
  }

  onHost(...command: string[]): string {
    const [nsenter = '', ...args] = this.enter;
    return run(nsenter, ...args, ...command);
  }

  amongMounts(...command: string[]): string {
    return run('nsenter', `--mount=/proc/${this.#mounts?.pid}/ns/mnt`, ...command);
  }

  spawnOnHost(...command: string[]): ChildProcess {
    return this.#spawn(command);
  }

  processesOf(containerID: string): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && readIfThere(`/proc/${name}/cgroup`).includes(containerID))
      .map(Number);
  }

  async start(): Promise<void> {
    if (!isRunning(this.#mounts)) this.#mounts = await this.#holdMounts();
    if (this.kind === 'docker' && !isRunning(this.#containerd)) {
      this.#containerd = this.#spawnInside(containerdCommand(this.folder));
    }
    const child = this.#spawnInside(
      this.kind === 'docker'
        ? dockerCommand(this.folder, this.network.bridge, this.liveRestore)
        : podmanCommand(this.folder),
    );
    this.#engine = child;
    const deadline = Date.now() + START_MS;
    for (;;) {
      const answer = await askEngine({ socketPath: this.socketPath }).catch(() => undefined);
      if (answer) return;
      if (!isRunning(child) || Date.now() > deadline)
        throw new Error(`${this.kind} did not start: ${this.#lastWords()}`);
      await sleep(50);
    }
  }

  get networkNamespace(): string {
    return `/run/netns/${this.network.name}`;
  }

  mounts(): string[] {
    const lines = readIfThere(`/proc/${this.#mounts?.pid}/mounts`).trim().split('\n');
    return lines.filter((line) => !TEST_NETWORK.test(line) || line.includes(` ${this.networkNamespace} `));
  }

  get keepsContainers(): boolean {
    return this.kind === 'podman' || this.liveRestore;
  }

  kill(): Promise<void> {
    return end(this.#engine, 'SIGKILL');
  }

  async restart(as: 'restart' | 'upgrade'): Promise<void> {
    await end(this.#engine, 'SIGTERM');
    if (as === 'upgrade') await end(this.#containerd, 'SIGTERM');
    await this.start();
  }

  async loseStorage(containerID: string): Promise<void> {
    await this.kill();
    const root = join(this.folder, 'root');
    const books = readdirSync(root).filter((name) => name.endsWith('-containers'));
    for (const book of books.map((name) => join(root, name, 'containers.json'))) {
      const containers = JSON.parse(readFileSync(book, 'utf8')) as { id: string }[];
      writeFileSync(book, JSON.stringify(containers.filter(({ id }) => id !== containerID)));
    }
    await this.start();
  }

  hang(hangs: boolean): void {
    this.#engine?.kill(hangs ? 'SIGSTOP' : 'SIGCONT');
  }

  async stop(): Promise<void> {
    try {
      if (!isRunning(this.#engine)) await this.start();
      await removeContainers(this.socketPath);
    } finally {
      await end(this.#engine, 'SIGTERM');
      await end(this.#containerd, 'SIGTERM');
      await end(this.#mounts, 'SIGKILL');
      await endProcessesBelow(this.folder);
      removeEmptyCgroups();
      removeNetwork(this.network);
      await removeEngineFolder(this.folder);
    }
  }

  async #holdMounts(): Promise<ChildProcess> {
    const done = join(this.folder, 'mounted');
    // Shared as under systemd, so that mounts can propagate into containers.
    const script = `mount --make-rshared /; ${CLEAN_CGROUPS} touch ${done}; exec sleep infinity`;
    const holder = this.#spawn(['unshare', '-m', 'sh', '-c', script]);
    while (!existsSync(done)) {
      if (!isRunning(holder)) throw new Error(`${this.kind} did not start: ${this.#lastWords()}`);
      await sleep(10);
    }
    return holder;
  }

  #spawnInside(command: string[]): ChildProcess {
    return this.#spawn(['nsenter', `--mount=/proc/${this.#mounts?.pid}/ns/mnt`, ...command]);
  }

  #spawn(command: string[]): ChildProcess {
    const log = openSync(join(this.folder, 'log'), 'a');
    // The kernel stops the engine if the tests are killed.
    const args = [`--net=/run/netns/${this.network.name}`, 'setpriv', '--pdeathsig', 'TERM', ...command];
    return spawn('nsenter', args, {
      stdio: ['ignore', log, log],
      env: {
        ...process.env,
        CONTAINERS_CONF: join(this.folder, 'containers.conf'),
        CONTAINERS_REGISTRIES_CONF: join(this.folder, 'registries.conf'),
      },
    });
  }

  #lastWords(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8').trim().split('\n').slice(-3).join(' | ');
  }
}

function isRunning(child: ChildProcess | undefined): boolean {
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || !isRunning(child)) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

/** Podman removes no container whose namespaces another one shares, so rejected removals are repeated. */
async function removeContainers(socketPath: string): Promise<void> {
  const api = new DockerApi({ socketPath });
  const refusals = { fallback: 'EngineDown' };
  let refused: unknown;
  for (let round = 0; round < 3; round += 1) {
    const query = { all: '1' };
    const found = await api.json<{ Id: string }[]>(
      { method: 'GET', path: '/containers/json', query },
      refusals,
    );
    if (found.length === 0) break;
    for (const { Id } of found) {
      const call = { method: 'DELETE', path: `/containers/${Id}`, query: { force: '1', v: '1' } } as const;
      refused = await api.json(call, refusals).catch((error: unknown) => error);
    }
  }
  api.close();
  if (refused instanceof Error) throw refused;
}

/**
 * Engines require every used cgroup v1 hierarchy at /sys/fs/cgroup, and crun allows no cgroup2 next to them. The mounts
 * are visible to the engine only. A machine with cgroup2 at /sys/fs/cgroup needs none.
 */
export const CLEAN_CGROUPS = `if ! grep -q ' /sys/fs/cgroup cgroup2 ' /proc/mounts; then
  hierarchies=$(awk -F: '$1 > 0 { print $2 }' /proc/self/cgroup)
  mount -t tmpfs tmpfs /sys/fs/cgroup
  for hierarchy in $hierarchies; do
    directory=/sys/fs/cgroup/\${hierarchy#name=}
    mkdir "$directory"
    case $hierarchy in
      name=*) mount -t cgroup -o "none,$hierarchy" cgroup "$directory" ;;
      *) mount -t cgroup -o "$hierarchy" cgroup "$directory" ;;
    esac
    for controller in $(echo "$hierarchy" | tr , ' '); do
      [ -e "/sys/fs/cgroup/\${controller#name=}" ] || ln -s "$hierarchy" "/sys/fs/cgroup/$controller"
    done
  done
fi
`;

/**
 * Engines leave the cgroup directories of their containers, and test hosts also leave some in hierarchies that only
 * they had mounted. Those would keep an unmounted hierarchy in use, and containerd would no longer see out-of-memory
 * kills. A recent empty directory may belong to a container that another test's engine is starting.
 */
function removeEmptyCgroups(): void {
  const folders = '/sys/fs/cgroup/*/docker /sys/fs/cgroup/*/libpod_parent';
  run(
    'unshare',
    '-m',
    'sh',
    '-c',
    `${CLEAN_CGROUPS} find ${folders} -depth -type d ! -newermt '10 seconds ago' -exec rmdir {} \\; 2>/dev/null || true`,
  );
}
