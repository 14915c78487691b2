/**
 * Test hosts. Each is a container of a private Docker with systemd as process 1, an engine and an address. A test can
 * reboot it, cut its power and disconnect it.
 */
import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EngineKind, startEngine, type TestEngine } from '../engines/test-engines.js';
import { testImageArchive } from '../engines/test-images.js';
import { hostImage, whyNoHosts } from './host-image.js';

const BOOT_MS = 60_000;
const BOOT_POLL_MS = 250;
const COMMAND_MS = 120_000;

/** Requirements of systemd in a container. `--privileged` would require CAP_SYS_RESOURCE, which test machines lack. */
const AS_A_HOST = [
  ...['--cap-add', 'ALL', '--cap-drop', 'SYS_RESOURCE'],
  ...['--security-opt', 'seccomp=unconfined', '--security-opt', 'apparmor=unconfined'],
  // The engine in the host sets net.ipv4.ip_forward.
  ...['--security-opt', 'systempaths=unconfined'],
  ...['--cgroupns', 'host', '-v', '/sys/fs/cgroup:/sys/fs/cgroup:rw', '--device', '/dev/fuse'],
  ...['--stop-signal', 'SIGRTMIN+3', '--tmpfs', '/run', '--tmpfs', '/tmp'],
  ...['-v', '/var/lib/docker', '-v', '/var/lib/containers'],
];

/** Podman's own command would inspect the engine from outside its service, where its mounts are not visible. */
const ENGINE_CLIENT: Record<EngineKind, string[]> = { docker: ['docker'], podman: ['podman', '--remote'] };

/** A private Docker that runs the hosts. */
export class TestHosts {
  readonly #outer: TestEngine;
  readonly #images = new Set<EngineKind>();

  private constructor(outer: TestEngine) {
    this.#outer = outer;
  }

  /** Opens the private Docker. Resolves with a reason where this machine cannot run hosts. */
  static async open(): Promise<TestHosts | string> {
    const why = whyNoHosts();
    if (why !== undefined) return why;
    const outer = await startEngine('docker');
    return typeof outer === 'string' ? outer : new TestHosts(outer);
  }

  /** Address of this machine as the hosts see it. A coordinator that listens here is reachable from them. */
  get gateway(): string {
    return this.#outer.gateway;
  }

  /** Socket of the private Docker. */
  get socketPath(): string {
    return this.#outer.socketPath;
  }

  /** Boots a host and resolves when systemd has started all units. The arguments are those of `powerOn`. */
  async start(...args: Parameters<TestHosts['powerOn']>): Promise<TestHost> {
    const host = this.powerOn(...args);
    await host.booted();
    return host;
  }

  /**
   * Begins to boot a host; await `booted`. Several can boot at the same time. The machine's own Node is at
   * /usr/local/bin/node there, and `tree` (a checkout with its build) at /opt/everynode, both read-only. A host without a
   * tree has neither. `volumes` are folders of this machine, `HERE:THERE`.
   */
  powerOn(name: string, kind: EngineKind, tree?: string, volumes: readonly string[] = []): TestHost {
    const image = `everynode-host-${kind}`;
    if (!this.#images.has(kind)) {
      this.#docker(['import', '-c', 'CMD ["/sbin/init"]', hostImage(kind), image]);
      this.#images.add(kind);
    }
    const mounts =
      tree === undefined
        ? []
        : ['-v', `${process.execPath}:/usr/local/bin/node:ro`, '-v', `${tree}:/opt/everynode:ro`];
    const more = volumes.flatMap((volume) => ['-v', volume]);
    this.#docker(['run', '-d', '--name', name, '--hostname', name, ...AS_A_HOST, ...mounts, ...more, image]);
    return new TestHost(name, kind, (args, input) => this.#docker(args, input));
  }

  /** Stops all hosts. */
  stop(): Promise<void> {
    return this.#outer.stop();
  }

  #docker(args: string[], input?: Uint8Array): string {
    const options: ExecFileSyncOptionsWithStringEncoding = {
      encoding: 'utf8',
      stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      timeout: COMMAND_MS,
      maxBuffer: 64 * 2 ** 20,
    };
    const host = `unix://${this.#outer.socketPath}`;
    return execFileSync('docker', ['-H', host, ...args], input ? { ...options, input } : options).trim();
  }
}

export class TestHost {
  constructor(
    readonly name: string,
    readonly engine: EngineKind,
    private readonly docker: (args: string[], input?: Uint8Array) => string,
  ) {}

  get address(): string {
    return this.docker(['inspect', '-f', '{{.NetworkSettings.IPAddress}}', this.name]);
  }

  /** Runs a command in the host. Returns its output. Throws if it fails. */
  run(...command: string[]): string {
    return this.docker(['exec', this.name, ...command]);
  }

  /** Runs a command of the host's engine client. */
  runEngine(...command: string[]): string {
    return this.run(...ENGINE_CLIENT[this.engine], ...command);
  }

  /** Puts test images into the host's engine. */
  async loadImages(tags: string[]): Promise<void> {
    this.loadArchive(await testImageArchive(tags));
  }

  /** Puts images in the format of `docker save` into the host's engine. */
  loadArchive(archive: Buffer): void {
    this.docker(['exec', '-i', this.name, this.engine, 'load'], archive);
  }

  /** Starts a command in the host and keeps it running. */
  runDetached(...command: string[]): void {
    this.docker(['exec', '-d', this.name, ...command]);
  }

  /** Writes a file of the host, with its directories. */
  write(path: string, text: string): void {
    const script = 'mkdir -p "$(dirname "$1")" && cat > "$1"';
    this.docker(['exec', '-i', this.name, 'sh', '-c', script, 'sh', path], Buffer.from(text));
  }

  /** Copies a file of this machine. */
  copyIn(path: string, target: string): void {
    this.docker(['cp', path, `${this.name}:${target}`]);
  }

  /** Reboots in order, like an operator. */
  async reboot(): Promise<void> {
    this.docker(['restart', this.name]);
    await this.booted();
  }

  /** Stops the host without any notice. */
  cutPower(): void {
    this.docker(['kill', '-s', 'KILL', this.name]);
  }

  async restorePower(): Promise<void> {
    this.docker(['start', this.name]);
    await this.booted();
  }

  disconnect(): void {
    this.docker(['network', 'disconnect', 'bridge', this.name]);
  }

  connect(): void {
    this.docker(['network', 'connect', 'bridge', this.name]);
  }

  /** Resolves when systemd reports `running` and the engine answers. Throws with the failed units at the timeout. */
  async booted(): Promise<void> {
    const deadline = Date.now() + BOOT_MS;
    for (;;) {
      const state = this.#try('systemctl', 'is-system-running');
      if (state === 'running' && this.#answers()) return;
      if (state === 'degraded')
        throw new Error(`${this.name}: ${this.run('systemctl', 'list-units', '--failed')}`);
      if (Date.now() > deadline) throw new Error(`${this.name} did not boot: ${state}`);
      // Each check starts a process in the host. Without pauses the checks would take the time of the boot itself.
      await sleep(BOOT_POLL_MS);
    }
  }

  #answers(): boolean {
    return this.#try(...ENGINE_CLIENT[this.engine], 'ps', '-q', '>/dev/null', '&&', 'echo', 'yes') === 'yes';
  }

  /** `is-system-running` exits with an error unless the state is `running`, so only its output counts. */
  #try(...command: string[]): string {
    return this.docker(['exec', this.name, 'sh', '-c', `${command.join(' ')} 2>&1 || true`]);
  }
}
