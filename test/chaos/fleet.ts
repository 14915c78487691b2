/** The coordinator as a process, its hosts, and what is seen of both. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { apiClientFromKubeconfig } from '../../coordinator/cli/api-client.js';
import { createToken } from '../../coordinator/cli/token.js';
import type { Node } from '../../shared/kube/node.js';
import type { Pod } from '../../shared/kube/pod.js';
import type { DaemonSet } from '../../shared/kube/workload.js';
import { CoordinatorApi } from '../harness/coordinator-api.js';
import type { EngineContainers } from '../harness/engine-containers.js';
import type { EngineKind } from '../harness/engines.js';
import { freePort } from '../harness/free-port.js';
import { TestHosts } from '../harness/hosts.js';
import { type CoordinatorProcess, startCoordinatorProcess } from '../harness/processes.js';
import { pause, until } from '../harness/until.js';
import type { ChaosHost } from './chaos-host.js';
import type { Seen, SeenContainer, SeenHost } from './check.js';
import { PlainHost } from './plain-host.js';
import { SystemdHost } from './systemd-host.js';

/** Silence after which a Node is NotReady: short, so that rounds pass it. */
const GRACE_MS = 5_000;
const JOIN_MS = 120_000;
/** An engine that does not answer by then is taken for hung. */
const ANSWER_MS = 5_000;

export interface FleetOptions {
  hosts: number;
  /** Without systemd: lighter, and without reboots and power cuts. */
  isPlain: boolean;
}

/** Every third host has Podman, so that both engines are there from three hosts on. */
const engineOf = (index: number): EngineKind => (index % 3 === 2 ? 'podman' : 'docker');

export class ChaosFleet {
  readonly hosts: ChaosHost[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'everynode-chaos-'));
  readonly #bystanders = new Map<string, string>();
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
    const flags = ['--port', String(this.#port), '--node-monitor-grace-ms', String(GRACE_MS)];
    this.#coordinator = await startCoordinatorProcess(this.#data, [
      ...flags,
      ...['--client-requests-per-second', '0'],
    ]);
  }

  hangCoordinator(hangs: boolean): void {
    if (this.#coordinator?.running) process.kill(this.#coordinator.pid, hangs ? 'SIGSTOP' : 'SIGCONT');
  }

  /** What every engine and the API say now; rejects while the API does not answer. */
  async look(): Promise<Seen> {
    const path = '/api/v1/namespaces/default/pods';
    const [hosts, nodes, pods, daemonSets] = await Promise.all([
      this.lookAtHosts(),
      this.api.items<Node>('/api/v1/nodes'),
      this.api.items<Pod>(path),
      this.api.items<DaemonSet>('/apis/apps/v1/namespaces/default/daemonsets'),
    ]);
    return { hosts, nodes: nodes.items, pods: pods.items, daemonSets: daemonSets.items };
  }

  lookAtHosts(): Promise<SeenHost[]> {
    return Promise.all(
      this.hosts.map(async (host) => ({
        name: host.name,
        containers: await containersOf(host.engine()),
        bystander: this.#bystanders.get(host.name) ?? '',
      })),
    );
  }

  /** What everybody has said last: for the story of a round that went wrong. */
  async lastWords(): Promise<string> {
    const words = await Promise.all(
      this.hosts.map(async (host) => {
        const said = await host.lastWords().catch((error: unknown) => String(error));
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
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  async #start({ hosts, isPlain }: FleetOptions): Promise<string | undefined> {
    this.#port = await freePort();
    const plain: PlainHost[] = [];
    const whole: SystemdHost[] = [];
    for (let index = 0; index < hosts; index += 1) {
      const name = `host-${index + 1}`;
      const host = isPlain
        ? await PlainHost.open(name, engineOf(index), this.#port)
        : await this.#startWhole(name, engineOf(index));
      if (typeof host === 'string') return host;
      if (host instanceof PlainHost) plain.push(host);
      else whole.push(host);
      this.hosts.push(host);
    }
    // Its certificate names the addresses that this machine has by now: the hosts' gateways are among them.
    await this.startCoordinator();
    this.#api = new CoordinatorApi(this.#coordinator?.kubeconfig ?? '');
    const token = await this.#token();
    for (const host of plain) host.join({ token, dataDir: join(this.#folder, host.name) });
    for (const host of whole) await host.join(token);
    for (const host of this.hosts) {
      this.#bystanders.set(host.name, (await host.engine()?.run('docker.io/library/app:1')) ?? '');
    }
    const isThere = async () => (await this.api.items<Node>('/api/v1/nodes')).items.length === hosts;
    await until(isThere, { timeoutMs: JOIN_MS, what: 'all hosts to join' });
    return undefined;
  }

  async #startWhole(name: string, kind: EngineKind): Promise<SystemdHost | string> {
    const machines = this.#machines ?? (await TestHosts.open());
    if (typeof machines === 'string') return machines;
    this.#machines = machines;
    return SystemdHost.open(name, kind, { hosts: machines, tree: resolve('.'), port: this.#port });
  }

  async #token(): Promise<string> {
    const client = apiClientFromKubeconfig(this.#coordinator?.kubeconfigPath ?? '');
    return (await createToken(client, { ttlSeconds: 0, description: 'chaos', reusable: true })).text;
  }
}

/** Undefined when the engine is down, hangs, or lost a container between two questions. */
async function containersOf(engine: EngineContainers | undefined): Promise<SeenContainer[] | undefined> {
  const answer = async (): Promise<SeenContainer[] | undefined> => {
    const all = await engine?.all();
    return all && (await Promise.all(all.map((each) => withStart(engine, each))));
  };
  return Promise.race([answer().catch(() => undefined), pause(ANSWER_MS).then(() => undefined)]);
}

async function withStart(
  engine: EngineContainers | undefined,
  container: SeenContainer,
): Promise<SeenContainer> {
  const startedAt = container.state === 'running' ? await engine?.startedAt(container.id) : undefined;
  return { ...container, ...(startedAt !== undefined && { startedAt }) };
}
