/** A fleet of processes whose coordinator is lost and restored from a backup. Its hosts are hollow or have engines. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { CoordinatorApi } from '../api/coordinator-api.js';
import { freePort } from '../basics/test-sockets.js';
import { until } from '../basics/wait-until.js';
import {
  type AgentProcessOptions,
  type CoordinatorProcess,
  type RunningProgram,
  runEverynode,
  startAgentProcess,
  startCoordinatorProcess,
} from './everynode-processes.js';

export const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const BACKUP = 'b.tar.gz';
const PATIENCE_MS = 60_000;

export function daemonSetBody(name: string, image: string) {
  const labels = { app: name };
  const spec = { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image }] };
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } };
  const template = { metadata: { labels }, spec };
  return { metadata: { name }, spec: { selector: { matchLabels: labels }, updateStrategy, template } };
}

/** Returns a value that differs between two runs of a container. */
export function runOf({ metadata, status }: Pod): string {
  const [container] = status?.containerStatuses ?? [];
  const { containerID, restartCount, state } = container ?? {};
  return [metadata.uid, containerID, restartCount, state?.running?.startedAt].join(' ');
}

const isRunning = ({ status }: Pod): boolean => isConditionTrue(status?.conditions, 'Ready');

export class RestoreFleet {
  readonly #folder = mkdtempSync(join(tmpdir(), 'everynode-restore-'));
  readonly #agents: RunningProgram[] = [];
  #nodes: string[] = [];
  #port = 0;
  #coordinator: CoordinatorProcess | undefined;
  #api: CoordinatorApi | undefined;

  get api(): CoordinatorApi {
    if (!this.#api) throw new Error('the coordinator was not started');
    return this.#api;
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  /** Starts a coordinator over this data at the address that the agents use. */
  async startCoordinator(data: string): Promise<void> {
    if (!this.#port) this.#port = await freePort();
    this.#coordinator = await startCoordinatorProcess(this.path(data), ['--port', String(this.#port)]);
    this.#api?.close();
    this.#api = new CoordinatorApi(this.#coordinator.kubeconfig);
  }

  async killCoordinator(): Promise<void> {
    await this.#coordinator?.end('SIGKILL');
  }

  async join(node: string, data: string, wish: Partial<AgentProcessOptions> = {}): Promise<void> {
    const client = apiClientFromKubeconfig(join(this.path(data), 'kubeconfig'));
    const { text: token } = await createToken(client, {
      ttlSeconds: 0,
      description: 'restore',
      reusable: true,
    });
    const server = `https://127.0.0.1:${this.#port}`;
    this.#agents.push(startAgentProcess({ node, server, token, dataDir: this.path(node), ...wish }));
    this.#nodes.push(node);
  }

  async backUp(data: string): Promise<void> {
    const args = ['backup', '--data', this.path(data), '--to', this.path(BACKUP)];
    const { code, stderr } = await runEverynode(args);
    assert.equal(code, 0, stderr);
  }

  /** Deletes the coordinator with its data and starts another one over the backup. */
  async restore(data: string): Promise<void> {
    await this.killCoordinator();
    const { code, stderr } = await runEverynode(['restore', this.path(BACKUP), '--data', this.path(data)]);
    assert.equal(code, 0, stderr);
    await this.startCoordinator(data);
  }

  /** Creates a Pod without a controller on each node. */
  async startProbes(image: string): Promise<void> {
    for (const nodeName of this.#nodes) {
      const metadata = { name: `${image.replace(':', '-')}-${nodeName}` };
      const spec = { nodeName, containers: [{ name: 'main', image }] };
      await this.api.request('POST', '/api/v1/namespaces/default/pods', { metadata, spec });
    }
  }

  /** Sets the image of a DaemonSet. */
  async setImage(name: string, image: string): Promise<void> {
    const type = 'application/merge-patch+json';
    await this.api.request(
      'PATCH',
      `${DAEMON_SETS}/${name}`,
      { spec: daemonSetBody(name, image).spec },
      type,
    );
  }

  async pods(): Promise<Pod[]> {
    return (await this.api.items<Pod>('/api/v1/namespaces/default/pods')).items;
  }

  /** Waits until as many Pods as images run, and returns the Pods. */
  async running(images: readonly string[]): Promise<Pod[]> {
    let pods: Pod[] = [];
    const wanted = [...images].sort().join();
    const what = `Pods of ${wanted}`;
    await until(
      async () => {
        pods = await this.pods();
        const found = pods.map(({ spec }) => spec.containers[0]?.image ?? '').sort();
        return found.join() === wanted && pods.every(isRunning);
      },
      { timeoutMs: PATIENCE_MS, what },
    );
    return pods;
  }

  async close(): Promise<void> {
    for (const agent of this.#agents) await agent.end('SIGKILL');
    await this.#coordinator?.end('SIGTERM');
    this.#api?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
