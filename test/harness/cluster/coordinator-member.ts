/** One of several coordinators as a process. TCP proxies connect it to etcd, so that a test can cut it off. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LinkProxy } from '../../chaos/link-proxy.js';
import { until } from '../basics/wait-until.js';
import { type RunningProgram, startProgram } from '../processes/everynode-processes.js';
import { type ClusterMachine, THIS_MACHINE } from './cluster-machine.js';

/** As in the systemd unit, but shorter. */
const RESTART_MS = 200;
export interface MemberOptions {
  /** From 1 on. */
  readonly number: number;
  readonly dataDir: string;
  readonly port: number;
  /** `http://127.0.0.1:PORT` or `https://…` of each member of etcd. */
  readonly etcdEndpoints: readonly string[];
  /** Such as `--etcd-ca FILE`. */
  readonly etcdTlsFlags: readonly string[];
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Another machine than this one reaches etcd without the proxies. */
  readonly machine?: ClusterMachine;
}

export class CoordinatorMember {
  readonly #options: MemberOptions;
  readonly #proxies: readonly LinkProxy[];
  #program: RunningProgram | undefined;
  /** False: the process stays down after it has exited. */
  #isRestarted = false;
  #restart: NodeJS.Timeout | undefined;
  /** Exit codes and signals of processes that ended by themselves, in order. */
  readonly exits: (number | NodeJS.Signals | undefined)[] = [];

  private constructor(options: MemberOptions, proxies: readonly LinkProxy[]) {
    this.#options = options;
    this.#proxies = proxies;
  }

  static async open(options: MemberOptions): Promise<CoordinatorMember> {
    if (options.machine) return new CoordinatorMember(options, []);
    const ports = options.etcdEndpoints.map((endpoint) => Number(new URL(endpoint).port));
    return new CoordinatorMember(
      options,
      await Promise.all(ports.map((port) => LinkProxy.open('127.0.0.1', port))),
    );
  }

  get number(): number {
    return this.#options.number;
  }

  get dataDir(): string {
    return this.#options.dataDir;
  }

  get port(): number {
    return this.#options.port;
  }

  get server(): string {
    return `https://${this.address}:${this.port}`;
  }

  get address(): string {
    return this.#machine.address;
  }

  /** Undefined until this coordinator is a member. */
  get id(): string | undefined {
    try {
      const file: { memberId?: string } = JSON.parse(readFileSync(join(this.dataDir, 'member.json'), 'utf8'));
      return file.memberId;
    } catch {
      return undefined;
    }
  }

  get isRunning(): boolean {
    return this.#program?.running ?? false;
  }

  get pid(): number {
    return this.#program?.pid ?? 0;
  }

  /** The output of all its processes. */
  get log(): string {
    return readFileSync(this.#logFile, 'utf8');
  }

  /** The flags by which commands reach etcd as this coordinator does. */
  get etcdFlags(): string[] {
    if (this.#options.machine)
      return ['--etcd', this.#options.etcdEndpoints.join(','), ...this.#options.etcdTlsFlags];
    const urls = this.#proxies.map((proxy, index) => {
      const { protocol } = new URL(this.#options.etcdEndpoints[index] ?? '');
      return `${protocol}//127.0.0.1:${proxy.port}`;
    });
    return ['--etcd', urls.join(','), ...this.#options.etcdTlsFlags];
  }

  /** Starts the process. It is started again whenever it exits by itself, as systemd does. */
  start(): void {
    this.#isRestarted = true;
    // A restart that is due would start a second process with the same data, which nobody ends.
    clearTimeout(this.#restart);
    if (!this.isRunning) this.#run();
  }

  /** Ends the process with SIGKILL. It stays down until `start`. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Ends the process with SIGTERM. It stays down until `start`. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** Stops the process without ending it, until `resume`. */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  resume(): void {
    if (this.isRunning) process.kill(this.pid, 'SIGCONT');
  }

  /** Delivers nothing between this coordinator and etcd until `healEtcd`. Connections stay open. */
  cutEtcd(): void {
    for (const proxy of this.#proxies) proxy.stall();
  }

  healEtcd(): void {
    for (const proxy of this.#proxies) proxy.resume();
  }

  /** Delays what is sent between this coordinator and etcd, in each direction. */
  delayEtcd(ms: number): void {
    for (const proxy of this.#proxies) proxy.delay(ms);
  }

  async close(): Promise<void> {
    await this.#end('SIGKILL');
    for (const proxy of this.#proxies) proxy.close();
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#isRestarted = false;
    clearTimeout(this.#restart);
    const program = this.#program;
    // A stopped process handles SIGTERM only after SIGCONT.
    this.resume();
    await program?.end(signal);
    // A restart may have begun before this call.
    await until(() => this.#program === program, { what: 'no restart' });
  }

  get #machine(): ClusterMachine {
    return this.#options.machine ?? THIS_MACHINE;
  }

  get #logFile(): string {
    return `${this.dataDir}-coordinator.log`;
  }

  #run(): void {
    const { dataDir, port, args, environment } = this.#options;
    const { address, enter } = this.#machine;
    const own = ['--data', dataDir, '--host', address, '--port', String(port)];
    const all = ['coordinator', ...own, '--advertise', address, ...this.etcdFlags, ...args];
    const variables = { ...environment, ...this.#machine.environment };
    const program = startProgram('coordinator/cli/everynode.js', all, this.#logFile, variables, enter);
    this.#program = program;
    void program.ended.then(() => {
      if (!this.#isRestarted) return;
      this.exits.push(program.exitStatus);
      this.#restart = setTimeout(() => this.#run(), RESTART_MS);
    });
  }
}
