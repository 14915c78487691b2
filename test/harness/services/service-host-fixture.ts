/** A coordinator, and an agent in the network of a real engine, as on a host of its own. */
import { type ChildProcess, execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { removeMemory } from '../../../agent/volumes/pod-folders.js';
import { apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import { CLUSTER_DNS_ADDRESS } from '../../../shared/kube/services/cluster-dns.js';
import { freePort } from '../basics/test-sockets.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../clients/kubectl.js';
import { EngineContainers } from '../engines/engine-containers.js';
import { type EngineKind, startEngine, type TestEngine } from '../engines/test-engines.js';
import { loadTestImages } from '../engines/test-images.js';
import { AMPLE_HOST } from '../pods/ample-host.js';
import { type CoordinatorProcess, startCoordinatorProcess } from '../processes/everynode-processes.js';
import { run } from '../processes/run-system-command.js';

const AGENT = resolve(dirname(fileURLToPath(import.meta.url)), '../../../agent/everynode-agent.cjs');
export const NODE = 'shop-1';

export class ServiceHostFixture {
  readonly #folder = mkdtempSync(join(tmpdir(), 'everynode-services-'));
  #port = 0;
  #token = '';
  #coordinator: CoordinatorProcess | undefined;
  #agent: ChildProcess | undefined;
  #kubectl: Kubectl | undefined;

  readonly #containers: EngineContainers;

  private constructor(readonly engine: TestEngine) {
    this.#containers = new EngineContainers(engine.socketPath);
  }

  /** Opens the fixture with the image `app:1`. Resolves with a reason where this machine lacks the engine or a kubectl. */
  static async open(kind: EngineKind): Promise<ServiceHostFixture | string> {
    const why = whyNoKubectl() ?? (existsSync('/usr/sbin/nft') ? undefined : 'needs nft (see .ci/packages)');
    if (why !== undefined) return why;
    const engine = await startEngine(kind);
    if (typeof engine === 'string') return engine;
    const fixture = new ServiceHostFixture(engine);
    try {
      await loadTestImages(engine.socketPath, ['app:1']);
      await fixture.#startAll();
      return fixture;
    } catch (error) {
      await fixture.close();
      throw error;
    }
  }

  get kubectl(): Kubectl {
    this.#kubectl ??= createKubectl(this.#running().kubeconfig);
    return this.#kubectl;
  }

  /** Runs a command of busybox in the Pod. Rejects if it fails. */
  inPod(pod: string, command: string): Promise<string> {
    return this.kubectl.ok(`exec ${pod} -- /bin/busybox ${command}`);
  }

  /**
   * Resolves the name by the cluster DNS and fetches its page, from the Pod's network; without a Pod, from the host's.
   * Node does it, because a static busybox cannot resolve names for `wget`.
   */
  async fetch(name: string, pod?: string): Promise<string> {
    const network =
      pod === undefined ? this.engine.networkNamespace : `/proc/${await this.#processOf(pod)}/ns/net`;
    const script = `
      const resolver = new (require('dns').promises.Resolver)();
      resolver.setServers(['${CLUSTER_DNS_ADDRESS}']);
      resolver.resolve4('${name}')
        .then(([address]) => fetch('http://' + address + '/', { signal: AbortSignal.timeout(15000) }))
        .then((response) => response.text()).then(console.log)`;
    const args = [`--net=${network}`, process.execPath, '-e', script];
    const { stdout } = await promisify(execFile)('nsenter', args);
    return stdout.trim();
  }

  /** Opens a new connection to the address every 20 ms for this time. Resolves with the numbers of successes and errors. */
  async connectRepeatedly(
    address: string,
    durationMs: number,
  ): Promise<{ served: number; errors: string[] }> {
    const script = `
      const [served, errors, end] = [[], [], Date.now() + ${durationMs}];
      const once = () => fetch('http://${address}/', { signal: AbortSignal.timeout(1000), headers: { connection: 'close' } })
        .then((response) => response.text())
        .then((text) => served.push(text), (error) => errors.push(String(error.cause ?? error)))
        .then(() => Date.now() < end
          ? setTimeout(once, 20)
          : console.log(JSON.stringify({ served: served.length, errors })));
      once()`;
    return JSON.parse(await this.onHost(process.execPath, '-e', script));
  }

  async #processOf(pod: string): Promise<number> {
    const uid = (await this.kubectl.ok(`get pod ${pod} -o jsonpath={.metadata.uid}`)).trim();
    const container = (await this.#containers.all()).find(
      ({ podUID, state }) => podUID === uid && state === 'running',
    );
    const [pid] = container ? this.engine.processesOf(container.id) : [];
    if (pid === undefined) throw new Error(`${pod} does not run`);
    return pid;
  }

  startAgent(): void {
    const environment = {
      ...AMPLE_HOST,
      EVERYNODE_TOKEN: this.#token,
      DOCKER_HOST: `unix://${this.engine.socketPath}`,
    };
    const args = [
      '--server',
      `https://${this.engine.gateway}:${this.#port}`,
      '--data',
      this.#dataDir('agent'),
    ];
    // `ip netns exec` also mounts the /sys of the engine's network.
    const namespace = basename(this.engine.networkNamespace);
    this.#agent = this.engine.spawnOnHost(
      ...['ip', 'netns', 'exec', namespace, 'env'],
      ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      ...[process.execPath, AGENT, ...args, '--node-name', NODE, '--runtime', this.engine.kind],
    );
  }

  async endAgent(signal: NodeJS.Signals): Promise<void> {
    const agent = this.#agent;
    if (!agent || agent.exitCode !== null || agent.signalCode !== null) return;
    const ended = new Promise((done) => agent.once('exit', done));
    agent.kill(signal);
    await ended;
  }

  async startCoordinator(): Promise<void> {
    const args = ['--host', this.engine.gateway, '--port', String(this.#port)];
    this.#coordinator = await startCoordinatorProcess(this.#dataDir('coordinator'), args);
  }

  killCoordinator(): Promise<void> {
    return this.#running().end('SIGKILL');
  }

  /** Returns the destinations of Services in the kernel of the engine's host. */
  rules(): string[] {
    const command = ['nft', 'list', 'table', 'ip', 'everynode'];
    const lines = run('ip', 'netns', 'exec', basename(this.engine.networkNamespace), ...command).split('\n');
    return lines.filter((line) => line.includes('svc-') || line.includes('dnat to'));
  }

  /** Runs a command in the engine's network. Resolves with its output, also if it fails. */
  async onHost(...command: string[]): Promise<string> {
    const args = [`--net=${this.engine.networkNamespace}`, ...command];
    const { stdout } = await promisify(execFile)('nsenter', args).catch((error: { stdout: string }) => error);
    return stdout;
  }

  /** Resolves with the root folder of the running Pod whose name begins with this. */
  async filesOf(pod: string): Promise<string> {
    const names = (await this.kubectl.ok('get pods -o name'))
      .split('\n')
      .map((name) => name.replace('pod/', ''));
    return `/proc/${await this.#processOf(names.find((name) => name.startsWith(pod)) ?? pod)}/root`;
  }

  /** Stops everything, including containers. */
  async close(): Promise<void> {
    await this.endAgent('SIGKILL');
    await this.#coordinator?.end('SIGTERM');
    this.#kubectl?.remove();
    this.#containers.close();
    await this.engine.stop();
    await removeMemory(this.#dataDir('agent'));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #startAll(): Promise<void> {
    this.#port = await freePort();
    await this.startCoordinator();
    const api = apiClientFromKubeconfig(this.#running().kubeconfigPath);
    this.#token = (await createToken(api, { ttlSeconds: 0, description: 'services', reusable: true })).text;
    this.startAgent();
    await this.kubectl.ok(`wait node/${NODE} --for=create --timeout=30s`);
    await this.kubectl.ok(`wait node/${NODE} --for=condition=Ready --timeout=30s`);
  }

  #running(): CoordinatorProcess {
    if (!this.#coordinator) throw new Error('the coordinator was not started');
    return this.#coordinator;
  }

  #dataDir(name: string): string {
    return join(this.#folder, name);
  }
}
