/** Real etcd members on loopback, with their data in memory where possible. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { etcdEnvironment } from '../../../coordinator/cli/local-cluster/etcd-program.js';
import type { EtcdAccess } from '../../../coordinator/store/replica/etcd/etcd-access.js';
import { freePort } from '../basics/test-sockets.js';
import { until } from '../basics/wait-until.js';
import { type ClusterMachine, THIS_MACHINE } from '../cluster/cluster-machine.js';
import type { EtcdTestPki } from './etcd-test-pki.js';

/** The variable ETCD_BIN chooses another etcd, for example a newer version. */
const ETCD = process.env.ETCD_BIN ?? '/usr/bin/etcd';
/** The etcdctl of the same version, from the same folder. */
const ETCDCTL = join(dirname(ETCD), 'etcdctl');
const CTL_TIMEOUT_MS = 10_000;

/** Returns why etcd cannot be started here. */
export function missingEtcd(): string | undefined {
  const absent = [ETCD, ETCDCTL].find((program) => !existsSync(program));
  return absent && `${absent} is missing (Debian packages etcd-server and etcd-client, or ETCD_BIN)`;
}

interface EtcdOptions {
  readonly members?: 1 | 3;
  readonly pki?: EtcdTestPki;
  /** Further arguments, such as `--quota-backend-bytes=…`. */
  readonly args?: readonly string[];
  /** One for each member. Default: all run on this machine. */
  readonly machines?: readonly ClusterMachine[];
}

const running = new Set<EtcdProcesses>();
process.on('exit', () => {
  for (const cluster of running) cluster.destroy();
});

/** Starts members and waits until they have a leader. */
export async function startEtcd(options: EtcdOptions = {}): Promise<EtcdProcesses> {
  const cluster = new EtcdProcesses(options);
  await cluster.start();
  return cluster;
}

interface Member {
  readonly name: string;
  readonly machine: ClusterMachine;
  readonly client: string;
  readonly peer: string;
  process: ChildProcess | undefined;
}

export class EtcdProcesses {
  readonly #options: EtcdOptions;
  readonly #directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'everynode-etcd-'));
  #members: Member[] = [];

  constructor(options: EtcdOptions) {
    this.#options = options;
    running.add(this);
  }

  get endpoints(): string[] {
    return this.#members.map(({ client }) => client);
  }

  /** Of the members that run. */
  get pids(): number[] {
    return this.#members.flatMap(({ process: child }) => child?.pid ?? []);
  }

  get access(): EtcdAccess {
    const { pki } = this.#options;
    const { endpoints } = this;
    return pki ? { endpoints, isSecure: true, ...pki.client } : { endpoints, isSecure: false };
  }

  async start(): Promise<void> {
    const scheme = this.#options.pki ? 'https' : 'http';
    for (let index = 0; index < (this.#options.members ?? 1); index += 1) {
      const [client, peer] = [await freePort(), await freePort()];
      const machine = this.#options.machines?.[index] ?? THIS_MACHINE;
      this.#members.push({
        name: `m${index}`,
        machine,
        client: `${scheme}://${machine.address}:${client}`,
        peer: `http://${machine.address}:${peer}`,
        process: undefined,
      });
    }
    for (const member of this.#members) this.#spawn(member);
    await until(() => this.#members.every((_, index) => this.isHealthy(index)), {
      what: 'etcd to start',
      pollMs: 100,
      timeoutMs: 60_000,
    });
  }

  /** Runs etcdctl against one member, or all. */
  ctl(args: readonly string[], endpoints: readonly string[] = this.endpoints): string {
    return execFileSync(ETCDCTL, this.#ctlWords(args, endpoints), {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...etcdEnvironment(), ETCDCTL_API: '3' },
      timeout: CTL_TIMEOUT_MS,
    });
  }

  /** Runs etcdctl without blocking this process. Rejects if the command fails. */
  async ctlInBackground(
    args: readonly string[],
    endpoints: readonly string[] = this.endpoints,
  ): Promise<string> {
    const options = { env: { ...etcdEnvironment(), ETCDCTL_API: '3' }, timeout: CTL_TIMEOUT_MS };
    return (await promisify(execFile)(ETCDCTL, this.#ctlWords(args, endpoints), options)).stdout;
  }

  /** True if the member answers and has a leader. */
  isHealthy(index: number): boolean {
    try {
      this.ctl(['endpoint', 'health', '--command-timeout=2s'], [this.#member(index).client]);
      return true;
    } catch {
      return false;
    }
  }

  /** Index of the member that leads. */
  leader(): number {
    const status = JSON.parse(this.ctl(['endpoint', 'status', '--write-out=json'])) as {
      Endpoint: string;
      Status: { header: { member_id: number }; leader: number };
    }[];
    const found = status.find(({ Status }) => Status.leader === Status.header.member_id);
    return this.endpoints.indexOf(found?.Endpoint ?? '');
  }

  signal(index: number, signal: NodeJS.Signals): void {
    this.#member(index).process?.kill(signal);
  }

  /** Ends a member like a power cut and resolves when it has exited. */
  async kill(index: number): Promise<void> {
    const member = this.#member(index);
    const child = member.process;
    if (!child || !this.isRunning(index)) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
    member.process = undefined;
  }

  isRunning(index: number): boolean {
    const child = this.#member(index).process;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Starts a killed member on the same ports and data. Does not wait for its health. */
  restart(index: number): void {
    this.#spawn(this.#member(index));
  }

  async stop(): Promise<void> {
    for (const index of this.#members.keys()) await this.kill(index);
    this.destroy();
  }

  /** Kills what runs and deletes the data. */
  destroy(): void {
    running.delete(this);
    for (const { process: child } of this.#members) child?.kill('SIGKILL');
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 3 });
  }

  log(index: number): string {
    return readFileSync(join(this.#directory, `${this.#member(index).name}.log`), 'utf8');
  }

  #ctlWords(args: readonly string[], endpoints: readonly string[]): string[] {
    const { pki } = this.#options;
    const tls = pki
      ? [`--cacert=${pki.client.caFile}`, `--cert=${pki.client.certFile}`, `--key=${pki.client.keyFile}`]
      : [];
    return [`--endpoints=${endpoints.join(',')}`, ...tls, ...args];
  }

  #member(index: number): Member {
    const member = this.#members[index];
    if (!member) throw new RangeError(`no etcd member ${index}`);
    return member;
  }

  #spawn(member: Member): void {
    const { pki, args = [] } = this.#options;
    const { name, client, peer, machine } = member;
    const peers = this.#members.map((each) => `${each.name}=${each.peer}`).join(',');
    const tls = pki
      ? [
          '--client-cert-auth',
          `--trusted-ca-file=${pki.server.caFile}`,
          `--cert-file=${pki.server.certFile}`,
          `--key-file=${pki.server.keyFile}`,
        ]
      : [];
    const log = openSync(join(this.#directory, `${name}.log`), 'a');
    const [command = ETCD, ...words] = [...machine.enter, ETCD];
    member.process = spawn(
      command,
      [
        ...words,
        `--name=${name}`,
        `--data-dir=${join(this.#directory, name)}`,
        `--listen-client-urls=${client}`,
        `--advertise-client-urls=${client}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=${peers}`,
        ...tls,
        ...args,
      ],
      { stdio: ['ignore', log, log], env: etcdEnvironment() },
    );
    closeSync(log);
  }
}
