/** A host made of an engine and an agent in their own network namespace: light, but it cannot boot. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngineContainers } from '../harness/engines/engine-containers.js';
import { startEngine, type TestEngine } from '../harness/engines/test-engines.js';
import { loadArchive } from '../harness/engines/test-images.js';
import { AMPLE_HOST_ARGS } from '../harness/pods/ample-host.js';
import type { SmallDisk } from '../harness/pods/small-disk.js';
import { type ChaosHost, type HostOptions, PacketLoss } from './chaos-host.js';
import { appImages, bystanderImage } from './chaos-images.js';
import type { WrongClock } from './chaos-plan.js';
import type { FakeClock } from './libfaketime-clock.js';
import { LinkProxy } from './link-proxy.js';

const AGENT = resolve(dirname(fileURLToPath(import.meta.url)), '../../agent/everynode-agent.cjs');
/** Restart delay; systemd's delay for the real agent is longer. */
const RESTART_MS = 300;

export class PlainHost implements ChaosHost {
  readonly #containers: EngineContainers;
  readonly #loss = new PacketLoss();
  #agent: ChildProcess | undefined;
  #token = '';
  #isClosing = false;

  private constructor(
    readonly name: string,
    readonly linkProxy: LinkProxy,
    private readonly own: TestEngine,
    private readonly disk: SmallDisk,
    private readonly clock: FakeClock,
  ) {
    this.#containers = new EngineContainers(own.socketPath);
  }

  /** Resolves with the reason if this machine lacks the engine. */
  static async open(
    name: string,
    { kind, liveRestore, port, disk, clock }: HostOptions,
  ): Promise<PlainHost | string> {
    const own = await startEngine(kind, { liveRestore });
    if (typeof own === 'string') return own;
    await loadArchive(own.socketPath, await appImages());
    await loadArchive(own.socketPath, await bystanderImage());
    return new PlainHost(name, await LinkProxy.open(own.gateway, port), own, disk, clock);
  }

  get keepsContainers(): boolean {
    return this.own.keepsContainers;
  }

  engine(): EngineContainers {
    return this.#containers;
  }

  /** Starts the agent and restarts it whenever it exits. */
  join(token: string): void {
    this.#token = token;
    this.#start();
  }

  async killAgent(): Promise<void> {
    this.#agent?.kill('SIGKILL');
  }

  async hangAgent(hangs: boolean): Promise<void> {
    this.#agent?.kill(hangs ? 'SIGSTOP' : 'SIGCONT');
  }

  async damageCache(): Promise<void> {
    const agent = this.#agent;
    const ended = new Promise((done) => agent?.once('exit', done));
    agent?.kill('SIGKILL');
    await ended;
    const path = join(this.disk.path, 'desired.json');
    if (existsSync(path)) writeFileSync(path, readFileSync(path).subarray(0, -7));
  }

  async killEngine(): Promise<void> {
    await this.own.kill();
    await this.own.start();
  }

  async hangEngine(hangs: boolean): Promise<void> {
    this.own.hang(hangs);
  }

  restartEngine(as: 'restart' | 'upgrade'): Promise<void> {
    return this.own.restart(as);
  }

  fillDisk(fills: boolean): void {
    if (fills) this.disk.fill();
    else this.disk.free();
  }

  lockDisk(locks: boolean): Promise<void> {
    return this.disk.lock(locks);
  }

  setClock(to: WrongClock | undefined): void {
    this.clock.set(to);
  }

  lose(percent: number): Promise<void> {
    return this.#loss.set(this.own.enter, percent);
  }

  reboot(): Promise<void> {
    throw new Error('a plain host cannot boot');
  }

  cutPower(): Promise<void> {
    return this.reboot();
  }

  restorePower(): Promise<void> {
    return this.reboot();
  }

  async lastLogLines(): Promise<string> {
    return readFileSync(this.#log, 'utf8').split('\n').slice(-40).join('\n');
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    const agent = this.#agent;
    if (agent?.exitCode === null && agent.signalCode === null) {
      const ended = new Promise((done) => agent.once('exit', done));
      agent.kill('SIGKILL');
      await ended;
    }
    this.linkProxy.close();
    this.#containers.close();
    await this.own.stop();
  }

  get #log(): string {
    return `${this.disk.path}.log`;
  }

  #start(): void {
    const { socketPath, gateway, kind } = this.own;
    const words = [
      ...[process.execPath, AGENT, '--server', `https://${gateway}:${this.linkProxy.port}`],
      ...['--data', this.disk.path, '--node-name', this.name, '--runtime', kind],
    ];
    const script = `exec "$@" >>${this.#log} 2>&1`;
    const environment = [
      `DOCKER_HOST=unix://${socketPath}`,
      `EVERYNODE_TOKEN=${this.#token}`,
      ...AMPLE_HOST_ARGS,
      ...this.clock.environment(),
    ];
    this.#agent = this.own.spawnOnHost('env', ...environment, 'sh', '-c', script, 'sh', ...words);
    this.#agent.once('exit', () => setTimeout(() => this.#isClosing || this.#start(), RESTART_MS));
  }
}
