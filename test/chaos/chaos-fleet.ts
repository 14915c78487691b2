/** The coordinator as a process, its hosts, and what is seen of both. */
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

/** Silence after which a Node is NotReady: short, so that rounds pass it. */
const GRACE_MS = 5_000;
const POD_KEYS = prefixOf(podKind);
const JOIN_MS = 120_000;
/** An engine that does not answer by then is taken for hung. */
const ANSWER_MS = 5_000;
/** Of disks that are filled, MiB: enough for what is kept there, little enough for the machine's memory. */
const COORDINATOR_DISK = 128;
const HOST_DISK = 32;

export interface FleetOptions {
  hosts: number;
  /** Without systemd: lighter, and without reboots and power cuts. */
  isPlain: boolean;
}

/** Docker, Docker whose containers outlive it, Podman, and so on. */
const engineOf = (index: number): { kind: EngineKind; liveRestore: boolean } => ({
  kind: index % 3 === 2 ? 'podman' : 'docker',
  liveRestore: index % 3 === 1,
});

export class ChaosFleet {
  readonly hosts: ChaosHost[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'everynode-chaos-'));
  readonly #clock = new MovedClock(join(this.#folder, 'coordinator-clock'));
  /** How far the coordinator's clock has ever been from the truth, ms: what it was told then keeps its time by it. */
  readonly clockErrorsMs = new Set<number>();
  readonly #bystanders = new Map<string, string>();
  readonly #disks: SmallDisk[] = [];
  #machines: TestHosts | undefined;
  #port = 0;
  #coordinator: CoordinatorProcess | undefined;
  #api: CoordinatorApi | undefined;

  /** A sentence instead where this machine cannot have such hosts. */
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
    // At loopback: hosts come by their wires.
    const flags = ['--port', String(this.#port), '--node-monitor-grace-period', `${GRACE_MS}ms`];
    this.#coordinator = await startCoordinatorProcess(
      this.#data,
      [...flags, ...['--client-requests-per-second', '0']],
      this.#clock.environment,
    );
  }

  /** The coordinator's wall clock, while it runs and when it starts; undefined: the truth. */
  setCoordinatorClock(to: WrongClock | undefined): void {
    if (to !== undefined) this.clockErrorsMs.add(clockErrorMs(to));
    this.#clock.set(to);
  }

  /** Of the coordinator's data: leaves no byte free, or frees what was taken. */
  fillCoordinator(fills: boolean): void {
    const [disk] = this.#disks;
    if (fills) disk?.fill();
    else disk?.free();
  }

  /** As a person takes it; answers where it is. */
  async backUp(): Promise<string> {
    const path = join(this.#folder, 'backup.tar.gz');
    await this.#everynode('backup', '--data', this.#data, '--to', path);
    return path;
  }

  /** Of a coordinator that is not running: its data are the backup's from now on. */
  async restore(backup: string): Promise<void> {
    await this.#everynode('restore', backup, '--data', this.#data, '--replace');
    for (const name of readdirSync(this.#data))
      if (name.startsWith('replaced-')) rmSync(join(this.#data, name), { recursive: true });
  }

  confirmRestore(): Promise<void> {
    return this.#everynode('confirm-restore', '--data', this.#data);
  }

  /** Pods as they lie on the disk of a coordinator that is not running. */
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

  /** What every engine and the API say now; rejects while the API does not answer. */
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

  /** What everybody has said last: for the story of a round that went wrong. */
  async lastLogLines(): Promise<string> {
    const words = await Promise.all(
      this.hosts.map(async (host) => {
        const said = await host.lastLogLines().catch((error: unknown) => String(error));
        return `--- ${host.name}\n${said}`;
      }),
    );
    const said = readFileSync(`${this.#data}-coordinator.log`, 'utf8').split('\n').slice(-80).join('\n');
    return [...words, `--- coordinator\n${said}`].join('\n');
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
    // Before any host is there: what is mounted later, its engine does not see.
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
    // Its certificate names the addresses that this machine has by now: the hosts' gateways are among them.
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

/** Undefined when the engine is down, hangs, or lost a container between two questions. */
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
