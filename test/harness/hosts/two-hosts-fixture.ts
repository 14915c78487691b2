/** Two machines with systemd, one with Docker and one with Podman, and a coordinator on this machine. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { freePort } from '../basics/test-sockets.js';
import { createKubectl, type Kubectl } from '../clients/kubectl.js';
import {
  type CoordinatorProcess,
  runEverynode,
  startCoordinatorProcess,
} from '../processes/everynode-processes.js';
import { UNITS_OF_TESTS } from './host-units.js';
import { type TestHost, TestHosts } from './test-hosts.js';

const TREE = resolve('.');
const PROGRAM = '#!/bin/sh\nexec /usr/local/bin/node /opt/everynode/dist/agent/everynode-agent.cjs "$@"\n';
/** Installs the agent of this tree as a service of a host. */
export const INSTALL_COMMAND = [
  '/usr/local/bin/node',
  '/opt/everynode/dist/agent/everynode-agent.cjs',
  'install',
];
export const GRACE_MS = 5_000;

export class TwoHosts {
  readonly #folder = mkdtempSync(join(tmpdir(), 'everynode-two-hosts-'));
  #coordinator: CoordinatorProcess | undefined;
  #kubectl: Kubectl | undefined;
  #port = 0;

  private constructor(
    readonly hosts: TestHosts,
    readonly one: TestHost,
    readonly two: TestHost,
  ) {}

  static async open(): Promise<TwoHosts | string> {
    const hosts = await TestHosts.open();
    if (typeof hosts === 'string') return hosts;
    try {
      const one = hosts.powerOn('one', 'docker', TREE);
      const two = hosts.powerOn('two', 'podman', TREE);
      for (const host of [one, two]) await host.booted();
      const all = new TwoHosts(hosts, one, two);
      all.#port = await freePort();
      for (const host of [one, two]) await all.#prepare(host);
      await all.startCoordinator();
      return all;
    } catch (error) {
      await hosts.stop();
      throw error;
    }
  }

  get kubectl(): Kubectl {
    this.#kubectl ??= createKubectl(readFileSync(join(this.dataDir, 'kubeconfig'), 'utf8'));
    return this.#kubectl;
  }

  get dataDir(): string {
    return join(this.#folder, 'data');
  }

  async startCoordinator(): Promise<void> {
    const { gateway } = this.hosts;
    const args = [
      '--host',
      gateway,
      '--port',
      String(this.#port),
      '--node-monitor-grace-period',
      `${GRACE_MS}ms`,
    ];
    this.#coordinator = await startCoordinatorProcess(this.dataDir, args);
  }

  async stopCoordinator(): Promise<void> {
    await this.#coordinator?.end('SIGKILL');
  }

  /** The command that an operator runs on a new host. */
  async joinLine(): Promise<string> {
    const { stdout } = await runEverynode(['token', 'create', '--data', this.dataDir]);
    return stdout.trim();
  }

  /** Returns the output of `everynode why TARGET`. */
  async why(...target: string[]): Promise<string> {
    const { stdout } = await runEverynode(['why', ...target, '--data', this.dataDir]);
    return stdout;
  }

  async node(name: string): Promise<Node> {
    return JSON.parse(await this.kubectl.ok(`get node ${name} -o json`));
  }

  async close(): Promise<void> {
    await this.#coordinator?.end('SIGTERM');
    this.#kubectl?.remove();
    await this.hosts.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Installs the program by hand, with the unit settings that test hosts need. */
  async #prepare(host: TestHost): Promise<void> {
    await host.loadImages(['app:1']);
    host.write('/usr/local/bin/everynode-agent', PROGRAM);
    host.run('chmod', '+x', '/usr/local/bin/everynode-agent');
    for (const [path, text] of UNITS_OF_TESTS.filter(([path]) => path.includes('agent')))
      host.write(path, text);
  }
}

/** Returns the ids of the running containers of a DaemonSet's Pods, according to the host's engine. */
export function containersOf(host: TestHost, name: string): string[] {
  const ids = host.runEngine('ps', '-q', '--filter', `label=everynode.dev/container=${name}`);
  return ids.split('\n').filter((id) => id !== '');
}
