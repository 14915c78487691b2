/** The coordinator as a process, its hosts, and observations of both. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { apiClientFromKubeconfig } from '../../coordinator/cli/client/api-client.js';
import { createToken } from '../../coordinator/cli/commands/token-command.js';
import { podKind } from '../../coordinator/kinds/index.js';
import { prefixOf } from '../../coordinator/registry/storage-keys.js';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { CoordinatorApi } from '../harness/api/coordinator-api.js';
import { freePort } from '../harness/basics/test-sockets.js';
import { pause, until } from '../harness/basics/wait-until.js';
import type { EngineContainers } from '../harness/engines/engine-containers.js';
import type { EngineKind } from '../harness/engines/test-engines.js';
import { TestHosts } from '../harness/hosts/test-hosts.js';
import { mountSmallDisk, type SmallDisk } from '../harness/pods/small-disk.js';
import {
  type CoordinatorProcess,
  runEverynode,
  startCoordinatorProcess,
} from '../harness/processes/everynode-processes.js';
import type { ObservedFleet, ObservedHost, ObservedHostContainer } from './chaos-check.js';
import type { ChaosHost, HostOptions } from './chaos-host.js';
import { BYSTANDER_IMAGE, type WrongClock } from './chaos-plan.js';
import { clockErrorMs, FakeClock, MovedClock } from './libfaketime-clock.js';
import { PlainHost } from './process-host.js';
import { SystemdHost } from './systemd-host.js';

/** Timeout after which a Node without reports becomes NotReady: short, so that rounds exceed it. */
const GRACE_MS = 5_000;
const POD_KEYS = prefixOf(podKind);
const JOIN_MS = 120_000;
/** Timeout after which an engine counts as hung. */
const ANSWER_MS = 5_000;
/** Size of disks that get filled, MiB: enough for the data, and small enough for the machine's memory. */
const COORDINATOR_DISK = 128;
const HOST_DISK = 32;

export interface FleetOptions {
  hosts: number;
  /** Hosts without systemd: lighter, and without reboots and power cuts. */
  isPlain: boolean;
}

/** Docker, Docker with live-restore, Podman, and so on in turn. */
const engineOf = (index: number): { kind: EngineKind; liveRestore: boolean } => ({
  kind: index % 3 === 2 ? 'podman' : 'docker',
  liveRestore: index % 3 === 1,
});

export class ChaosFleet {
  readonly hosts: ChaosHost[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'everynode-chaos-'));
  readonly #clock = new MovedClock(join(this.#folder, 'coordinator-clock'));
  /**
   * All errors that the coordinator's clock has had, ms. Times that were reported to it during an error keep that
   * error.
   */
  readonly clockErrorsMs = new Set<number>();
  readonly #bystanders = new Map<string, string>();
  readonly #disks: SmallDisk[] = [];
  #machines: TestHosts | undefined;
  #port = 0;
  #coordinator: CoordinatorProcess | undefined;
  #api: CoordinatorApi | undefined;

  /** Resolves with the reason if this machine cannot run such hosts. */
  static async open(options: FleetOptions): Promise<ChaosFleet | string> {
    const fleet = new ChaosFleet();
    try {
      const why = await fleet.#start(options);
      if (why === undefined) return fleet;
      await fleet.close();
      return why;
    } catch (error) {
      await fleet.close();
      throw error;
    }
  }

  get api(): CoordinatorApi {
    if (!this.#api) throw new Error('the coordinator was not started');
    return this.#api;
  }

  async killCoordinator(): Promise<void> {
    await this.#coordinator?.end('SIGKILL');
  }

  async startCoordinator(): Promise<void> {
    if (this.#coordinator?.running) return;
    // The coordinator listens on loopback: each host connects through its proxy.
    const flags = ['--port', String(this.#port), '--node-monitor-grace-period', `${GRACE_MS}ms`];
    this.#coordinator = await startCoordinatorProcess(
      this.#data,
      [...flags, ...['--client-requests-per-second', '0']],
      this.#clock.environment,
    );
  }

  /** Sets the coordinator's wall clock, now and for its next start; undefined: the correct time. */
  setCoordinatorClock(to: WrongClock | undefined): void {
    if (to !== undefined) this.clockErrorsMs.add(clockErrorMs(to));
    this.#clock.set(to);
  }

  /** Fills the disk with the coordinator's data, or frees the space again. */
  fillCoordinator(fills: boolean): void {
    const [disk] = this.#disks;
    if (fills) disk?.fill();
    else disk?.free();
  }

  /** Takes a backup by the command that operators use. Returns its path. */
  async backUp(): Promise<string> {
    const path = join(this.#folder, 'backup.tar.gz');
    await this.#everynode('backup', '--data', this.#data, '--to', path);
    return path;
  }

  /** Replaces the data of the stopped coordinator with the backup. */
  async restore(backup: string): Promise<void> {
    await this.#everynode('restore', backup, '--data', this.#data, '--replace');
    for (const name of readdirSync(this.#data))
      if (name.startsWith('replaced-')) rmSync(join(this.#data, name), { recursive: true });
  }

  confirmRestore(): Promise<void> {
    return this.#everynode('confirm-restore', '--data', this.#data);
  }

  /** Pods in the store of the stopped coordinator. */
  storedPods(): Pod[] {
    const database = new Database(join(this.#data, 'everynode.db'), { readonly: true });
    try {
      const values = database.prepare(`SELECT value FROM objects WHERE key LIKE '${POD_KEYS}%'`).pluck();
      return (values.all() as string[]).map((value) => JSON.parse(value) as Pod);
    } finally {
      database.close();
    }
  }

  hangCoordinator(hangs: boolean): void {
    if (this.#coordinator?.running) process.kill(this.#coordinator.pid, hangs ? 'SIGSTOP' : 'SIGCONT');
  }

  /** The current state of every engine and the API. Rejects while the API is not available. */
  async observe(): Promise<ObservedFleet> {
    const path = '/api/v1/namespaces/default/pods';
    const [hosts, nodes, pods, daemonSets] = await Promise.all([
      this.observeHosts(),
      this.api.items<Node>('/api/v1/nodes'),
      this.api.items<Pod>(path),
      this.api.items<DaemonSet>('/apis/apps/v1/namespaces/default/daemonsets'),
    ]);
    return { hosts, nodes: nodes.items, pods: pods.items, daemonSets: daemonSets.items };
  }

  observeHosts(): Promise<ObservedHost[]> {
    return Promise.all(
      this.hosts.map(async (host) => ({
        name: host.name,
        containers: await containersOf(host.engine()),
        bystander: this.#bystanders.get(host.name) ?? '',
      })),
    );
  }

  /** The last log lines of the coordinator and all hosts, for the report of a failed round. */
  async lastLogLines(): Promise<string> {
    const words = await Promise.all(
      this.hosts.map(async (host) => {
        const lines = await host.lastLogLines().catch((error: unknown) => String(error));
        return `--- ${host.name}\n${lines}`;
      }),
    );
    const lines = readFileSync(`${this.#data}-coordinator.log`, 'utf8').split('\n').slice(-80).join('\n');
    return [...words, `--- coordinator\n${lines}`].join('\n');
  }

  async close(): Promise<void> {
    this.hangCoordinator(false);
    for (const host of this.hosts) await host.close();
    await this.#coordinator?.end('SIGTERM');
    this.#api?.close();
    await this.#machines?.stop();
    for (const disk of this.#disks) disk.unmount();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  async #everynode(...args: string[]): Promise<void> {
    const { code, stderr } = await runEverynode(args);
    if (code !== 0) throw new Error(`everynode ${args.join(' ')}: ${stderr}`);
  }

  async #start({ hosts, isPlain }: FleetOptions): Promise<string | undefined> {
    this.#port = await freePort();
    // Mount the disks before the hosts start: engines do not see later mounts.
    const sizes = [COORDINATOR_DISK, ...Array.from({ length: hosts }, () => HOST_DISK)];
    for (const [index, size] of sizes.entries()) {
      const disk = mountSmallDisk(index === 0 ? this.#data : join(this.#folder, `host-${index}`), size);
      if (typeof disk === 'string') return disk;
      this.#disks.push(disk);
    }
    const plain: PlainHost[] = [];
    const whole: SystemdHost[] = [];
    for (let index = 0; index < hosts; index += 1) {
      const name = `host-${index + 1}`;
      const disk = this.#disks[index + 1] as SmallDisk;
      const clock = new FakeClock(join(this.#folder, `clock-${index + 1}`));
      const options = { ...engineOf(index), port: this.#port, disk, clock };
      const host = isPlain ? await PlainHost.open(name, options) : await this.#startWhole(name, options);
      if (typeof host === 'string') return host;
      if (host instanceof PlainHost) plain.push(host);
      else whole.push(host);
      this.hosts.push(host);
    }
    // Restart the coordinator: its certificate lists the machine's current addresses, and the hosts' gateways must be
    // among them.
    await this.startCoordinator();
    this.#api = new CoordinatorApi(this.#coordinator?.kubeconfig ?? '');
    const token = await this.#token();
    for (const host of plain) host.join(token);
    for (const host of whole) await host.join(token);
    for (const host of this.hosts) {
      this.#bystanders.set(host.name, (await host.engine()?.run(BYSTANDER_IMAGE)) ?? '');
    }
    const isThere = async () => (await this.api.items<Node>('/api/v1/nodes')).items.length === hosts;
    await until(isThere, { timeoutMs: JOIN_MS, what: 'all hosts to join' });
    return undefined;
  }

  async #startWhole(name: string, options: HostOptions): Promise<SystemdHost | string> {
    const machines = this.#machines ?? (await TestHosts.open());
    if (typeof machines === 'string') return machines;
    this.#machines = machines;
    return SystemdHost.open(name, { ...options, hosts: machines, tree: resolve('.') });
  }

  async #token(): Promise<string> {
    const client = apiClientFromKubeconfig(this.#coordinator?.kubeconfigPath ?? '');
    return (await createToken(client, { ttlSeconds: 0, description: 'chaos', reusable: true })).text;
  }
}

/** Undefined if the engine is down, hangs, or lost a container between two requests. */
async function containersOf(
  engine: EngineContainers | undefined,
): Promise<ObservedHostContainer[] | undefined> {
  const answer = async (): Promise<ObservedHostContainer[] | undefined> => {
    const all = await engine?.all();
    return all && (await Promise.all(all.map((each) => withStart(engine, each))));
  };
  return Promise.race([answer().catch(() => undefined), pause(ANSWER_MS).then(() => undefined)]);
}

async function withStart(
  engine: EngineContainers | undefined,
  container: ObservedHostContainer,
): Promise<ObservedHostContainer> {
  const startedAt = container.state === 'running' ? await engine?.startedAt(container.id) : undefined;
  return { ...container, ...(startedAt !== undefined && { startedAt }) };
}
