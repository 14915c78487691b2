/** A fleet with one host whose coordinator is moved between a single one and several, by the commands of an operator. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiClientFromKubeconfig } from '../../../coordinator/cli/client/api-client.js';
import { createToken } from '../../../coordinator/cli/commands/token-command.js';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { isConditionTrue } from '../../../shared/kube/objects/conditions.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { type ApiAnswer, CoordinatorApi } from '../api/coordinator-api.js';
import { freePort } from '../basics/test-sockets.js';
import { until } from '../basics/wait-until.js';
import { type RunningProgram, startAgentProcess, startProgram } from '../processes/everynode-processes.js';
import { DAEMON_SETS, daemonSetBody, runOf } from '../processes/restore-fleet.js';

const PROGRAM = resolve(dirname(fileURLToPath(import.meta.url)), '../../../coordinator/cli/everynode.js');
const PATIENCE_MS = 90_000;
const NODE = 'n1';

/** A data directory and its port. */
export interface Place {
  readonly data: string;
  readonly port: number;
}

export class MovedFleet {
  readonly folder = mkdtempSync(join(tmpdir(), 'everynode-moved-'));
  readonly #programs = new Map<Place, RunningProgram>();
  #agent: RunningProgram | undefined;

  constructor() {
    // The printed lines name the program by its name only.
    const bin = join(this.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'everynode'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
    chmodSync(join(bin, 'everynode'), 0o755);
  }

  async place(name: string): Promise<Place> {
    return { data: join(this.folder, name), port: await freePort() };
  }

  /** Flags that name the place. */
  flags({ data, port }: Place): string {
    return `--data ${data} --port ${port} --advertise 127.0.0.1`;
  }

  /** Runs a line of a shell as an operator. Returns what it prints. Fails if the command fails. */
  run(line: string): Promise<string> {
    const { KUBECONFIG: _, ...inherited } = process.env;
    const env = { ...inherited, HOME: this.folder, PATH: `${join(this.folder, 'bin')}:${process.env.PATH}` };
    return new Promise((done, fail) => {
      execFile('bash', ['-o', 'pipefail', '-c', line], { env }, (error, stdout, stderr) =>
        error ? fail(new Error(`${line}: ${stderr}`)) : done(stdout),
      );
    });
  }

  /** Starts the coordinator of this place and resolves when it serves, or follows and its address serves. */
  async start(place: Place, etcdFlags = ''): Promise<void> {
    const flags = `coordinator ${this.flags(place)} --host 127.0.0.1 ${etcdFlags}`.trim().split(' ');
    const log = `${place.data}.log`;
    const program = startProgram('coordinator/cli/everynode.js', flags, log);
    this.#programs.set(place, program);
    await until(
      async () => {
        if (!program.running) throw new Error(`the coordinator ended: ${readFileSync(log, 'utf8')}`);
        return this.#serves(place);
      },
      { timeoutMs: PATIENCE_MS, what: `the coordinator in ${place.data} to serve` },
    );
  }

  async stop(place: Place, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.#programs.get(place)?.end(signal);
  }

  /** Resolves when the process of this place has exited by itself. */
  async untilEnded(place: Place): Promise<void> {
    await this.#programs.get(place)?.ended;
  }

  /** Starts an agent at this place, and a DaemonSet, and resolves with the run of its container. */
  async startHost(place: Place): Promise<string> {
    const api = apiClientFromKubeconfig(join(place.data, 'kubeconfig'));
    const token = await createToken(api, { ttlSeconds: 600, description: NODE });
    this.#agent = startAgentProcess({
      ...{ node: NODE, token: token.text, dataDir: join(this.folder, NODE) },
      server: `https://127.0.0.1:${place.port}`,
    });
    const made = await this.#with(place, (client) =>
      client.send('POST', DAEMON_SETS, daemonSetBody('app', 'app:1')),
    );
    assert.equal(made.code, 201);
    return this.runAt(place);
  }

  /** Resolves with the run of the Pod's container when its host has reconnected. */
  async runAt(place: Place): Promise<string> {
    let run = '';
    await until(
      () =>
        this.#with(place, async (api) => {
          const { items: nodes } = await api.items<Node>('/api/v1/nodes');
          const { items: pods } = await api.items<Pod>('/api/v1/namespaces/default/pods');
          const isConnected = nodes.some(({ status }) => isConditionTrue(status?.conditions, 'Ready'));
          const [pod] = pods.filter(({ status }) => isConditionTrue(status?.conditions, 'Ready'));
          if (pod) run = runOf(pod);
          return isConnected && pods.length === 1 && pod !== undefined;
        }).catch(() => false),
      { timeoutMs: PATIENCE_MS, what: `the host to be connected at ${place.port}` },
    );
    return run;
  }

  /** Resolves when these are the roles of all coordinators, sorted, and no follower lags. */
  async untilRoles(place: Place, ...roles: string[]): Promise<readonly Coordinator[]> {
    let items: readonly Coordinator[] = [];
    await until(
      () =>
        this.#with(place, async (api) => {
          ({ items } = await api.items<Coordinator>(`/apis/${FLEET_GROUP}/v1/coordinators`));
          const found = items.map(({ status }) => status.role).sort();
          return (
            found.join() === roles.join() &&
            items.every(({ status }) => status.role === 'Down' || status.lagRecords === 0)
          );
        }).catch(() => false),
      { timeoutMs: PATIENCE_MS, what: `the roles ${roles}` },
    );
    return items;
  }

  async request(place: Place, method: string, path: string, body?: unknown): Promise<number> {
    return (await this.send(place, method, path, body)).code;
  }

  send(place: Place, method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    return this.#with(place, (api) => api.send(method, path, body));
  }

  async close(): Promise<void> {
    await this.#agent?.end('SIGKILL');
    for (const program of this.#programs.values()) await program.end('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  async #serves(place: Place): Promise<boolean> {
    if (!existsSync(join(place.data, 'kubeconfig'))) return false;
    return this.#with(
      place,
      async (api) => (await api.send('GET', '/api/v1/namespaces/default')).code === 200,
    ).catch(() => false);
  }

  async #with<T>({ data }: Place, work: (api: CoordinatorApi) => Promise<T>): Promise<T> {
    const api = new CoordinatorApi(readFileSync(join(data, 'kubeconfig'), 'utf8'));
    try {
      return await work(api);
    } finally {
      api.close();
    }
  }
}
