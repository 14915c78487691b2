/**
 * Container engines of the tests' own: started on a socket in a temporary folder, in a network namespace of their own,
 * ended by process id. Nothing that runs on the machine already is used or touched.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DockerApi } from '../../../agent/runtime/docker/docker-api.js';
import { askEngine } from '../../../agent/runtime/docker/find-engine.js';
import { run } from '../processes/run-system-command.js';
import { containerdCommand, dockerCommand, podmanCommand } from './engine-commands.js';
import { type EngineNetwork, makeNetwork, removeNetwork } from './engine-network.js';

export type EngineKind = 'docker' | 'podman';

export interface TestEngine {
  kind: EngineKind;
  /** `unix://` and this is a DOCKER_HOST. */
  socketPath: string;
  /** Where ports of the host that its containers take can be reached. */
  address: string;
  /** Address of this machine as seen from there. */
  gateway: string;
  /** Words before a command that have it run there. */
  readonly enter: readonly string[];
  /** Runs a command where `127.0.0.1` is the engine's host, and answers what it printed. */
  onHost(...command: string[]): string;
  /** Runs a command to its end among the mounts that the engine sees; answers what it printed. */
  amongMounts(...command: string[]): string;
  /** Starts one there; it ends with the tests. */
  spawnOnHost(...command: string[]): ChildProcess;
  /** The processes of a container, as this machine numbers them. */
  processesOf(containerID: string): number[];
  /** Where the addresses of its containers can be reached; a path for `nsenter --net`. */
  readonly networkNamespace: string;
  /** What is mounted where the engine runs, as `/proc/mounts` has it; networks of other tests come and go and are left out. */
  mounts(): string[];
  /** SIGKILL; containers stay as the engine leaves them. */
  kill(): Promise<void>;
  /**
   * Ends it in order and starts it again, as a service manager does; an upgrade of the package takes containerd along.
   * Docker takes its containers down with it, unless it is told to let them live.
   */
  restart(as: 'restart' | 'upgrade'): Promise<void>;
  /** Whether containers outlive the engine. */
  readonly keepsContainers: boolean;
  /** Kills it, takes a container's storage out of its books, as Podman may have it after a kill, and starts it again. */
  loseStorage(containerID: string): Promise<void>;
  /** Stops its process, which then takes calls and answers none, or lets it go on. */
  hang(hangs: boolean): void;
  /** Starts it again on the same data. */
  start(): Promise<void>;
  /** Ends it with all its containers and removes what it wrote. */
  stop(): Promise<void>;
}

/** A line of `/proc/mounts` that holds the network of a test: this one's or another's. */
const TEST_NETWORK = / \/run\/netns\/en\d+-\d+ /;

const NEEDED: Record<EngineKind, string[]> = {
  docker: ['/usr/sbin/dockerd', '/usr/sbin/iptables'],
  podman: ['/usr/bin/podman', '/usr/bin/crun', '/usr/bin/conmon', '/usr/lib/podman/netavark'],
};
const START_MS = 60_000;
let count = 0;

/** Why this machine cannot run such an engine; undefined when it can. */
function whyNoEngine(kind: EngineKind): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root';
  const missing = [...NEEDED[kind], '/bin/busybox', '/sbin/ip'].filter((path) => !existsSync(path));
  return missing.length > 0 ? `needs ${missing.join(', ')} (see .ci/packages)` : undefined;
}

export interface EngineOptions {
  /** Docker's own setting: its containers run on while it is away. Podman's always do. */
  liveRestore?: boolean;
}

/** A fresh engine without images; a sentence instead where it cannot be had. */
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
  /** Docker's other half, a process of its own as in every installation: it survives dockerd. */
  #containerd: ChildProcess | undefined;
  /** Keeps what the engine has mounted, such as its containers' network namespaces, over its death. */
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
      killBelow(this.folder);
      removeEmptyCgroups();
      removeNetwork(this.network);
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  async #holdMounts(): Promise<ChildProcess> {
    const done = join(this.folder, 'mounted');
    // As systemd has it, so that mounts can propagate into containers.
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
    // Should the tests be killed, the kernel ends the engine too.
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

/** Podman removes no container whose namespaces another shares: what is refused at first goes with the next round. */
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
 * Engines want every cgroup v1 hierarchy that is in use at /sys/fs/cgroup, crun no cgroup2 beside them: mounts that
 * only they see. A machine whose /sys/fs/cgroup is cgroup2 itself needs nothing.
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

/** Ends what an engine left: shims and monitors, which name the folder, and their containers. */
function killBelow(folder: string): void {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const left = pids.filter((pid) => readIfThere(`/proc/${pid}/cmdline`).includes(`${folder}/`));
  const children = left.flatMap((pid) => readIfThere(`/proc/${pid}/task/${pid}/children`).split(' '));
  for (const pid of [...children, ...left].filter((text) => text !== '')) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** A process may end while it is looked at. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Engines leave the directories in which they kept their containers, hosts also in hierarchies that only they had
 * mounted: those would stay in use for ever, without a mount, and containerd no longer sees who is out of memory.
 * A young empty one is that of a container which another test's engine is just starting.
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
