/** A host with systemd, its own address and engine, and the agent as a service. It can reboot and lose its power. */
import { readFileSync } from 'node:fs';
import { until } from '../harness/basics/wait-until.js';
import { EngineContainers } from '../harness/engines/engine-containers.js';
import { CLEAN_CGROUPS, type EngineKind } from '../harness/engines/test-engines.js';
import { UNITS_OF_TESTS } from '../harness/hosts/host-units.js';
import type { TestHost, TestHosts } from '../harness/hosts/test-hosts.js';
import { type ChaosHost, type HostOptions, PacketLoss, runHere } from './chaos-host.js';
import { appImages, bystanderImage } from './chaos-images.js';
import type { WrongClock } from './chaos-plan.js';
import { LinkProxy } from './link-proxy.js';

const PROGRAM = '#!/bin/sh\nexec /usr/local/bin/node /opt/everynode/dist/agent/everynode-agent.cjs "$@"\n';
const INSTALL = ['/usr/local/bin/node', '/opt/everynode/dist/agent/everynode-agent.cjs', 'install'];
const AGENT_UNIT = 'everynode-agent';
const AGENT_DATA = '/var/lib/everynode-agent';
const DESIRED = `${AGENT_DATA}/desired.json`;
const BOOT_MS = 60_000;

/** Socket and unit of each engine. */
const ENGINES: Record<EngineKind, { socket: string; unit: string }> = {
  docker: { socket: '/run/docker.sock', unit: 'docker.service' },
  podman: { socket: '/run/podman/podman.sock', unit: 'podman.service' },
};

/**
 * Podman on a test host keeps its containers' networks in its own mount namespace. A separate unit owns these mounts,
 * so that they outlive Podman's death, as they do on an ordinary host.
 */
const PODMAN_MOUNTS: readonly (readonly [string, string])[] = [
  ['/etc/engine-mounts', `${CLEAN_CGROUPS}echo $$ >/run/engine-mounts.pid\nexec sleep infinity\n`],
  [
    '/etc/systemd/system/engine-mounts.service',
    '[Service]\nExecStart=/usr/bin/unshare -m sh /etc/engine-mounts\n',
  ],
  [
    '/etc/systemd/system/podman.service.d/z-mounts.conf',
    `[Unit]
Requires=engine-mounts.service
After=engine-mounts.service
[Service]
ExecStart=
ExecStart=/bin/sh -c 'until [ -s /run/engine-mounts.pid ]; do sleep 0.05; done; exec nsenter -m -t $(cat /run/engine-mounts.pid) podman system service --time=0'
`,
  ],
];

export class SystemdHost implements ChaosHost {
  readonly #loss = new PacketLoss();
  #containers: EngineContainers | undefined;
  /** Process id of the host's systemd on this machine; 0 while the host is off. */
  #pid = 0;

  private constructor(
    private readonly host: TestHost,
    private readonly outer: string,
    private readonly gateway: string,
    readonly linkProxy: LinkProxy,
    private readonly options: HostOptions,
  ) {}

  /** Boots the host. `tree` is a built checkout; `port` is the coordinator's loopback port. */
  static async open(
    name: string,
    options: HostOptions & { hosts: TestHosts; tree: string },
  ): Promise<SystemdHost> {
    const { kind, liveRestore, hosts, tree, port, disk, clock } = options;
    const volumes = [`${disk.path}:${AGENT_DATA}`, ...clock.volumes];
    const host = await hosts.start(name, kind, tree, volumes);
    const wire = await LinkProxy.open(hosts.gateway, port);
    // Without this, systemd stops restarting the engine after its third exit within a minute.
    host.write(
      `/etc/systemd/system/${ENGINES[kind].unit}.d/restarts.conf`,
      '[Unit]\nStartLimitIntervalSec=0\n',
    );
    host.run('systemctl', 'daemon-reload');
    if (liveRestore) {
      host.write('/etc/docker/daemon.json', '{"live-restore": true}');
      host.run('systemctl', 'restart', 'docker.service');
    }
    if (kind === 'podman') {
      for (const [path, text] of PODMAN_MOUNTS) host.write(path, text);
      host.run('systemctl', 'daemon-reload');
      host.run('systemctl', 'restart', 'podman.service');
    }
    const own = new SystemdHost(host, `unix://${hosts.socketPath}`, hosts.gateway, wire, options);
    host.write('/usr/local/bin/everynode-agent', PROGRAM);
    host.run('chmod', '+x', '/usr/local/bin/everynode-agent');
    for (const [path, text] of UNITS_OF_TESTS) host.write(path, text);
    host.write('/etc/systemd/system/everynode-agent.service.d/clock.conf', `[Service]\n${clock.line}`);
    await own.#find();
    for (const images of [appImages(), bystanderImage()]) await own.engine()?.load(await images);
    return own;
  }

  get name(): string {
    return this.host.name;
  }

  engine(): EngineContainers | undefined {
    return this.#containers;
  }

  get keepsContainers(): boolean {
    return this.options.kind === 'podman' || this.options.liveRestore;
  }

  /** Joins by the user's command, which exits when the service is ready. */
  async join(token: string): Promise<void> {
    const server = `https://${this.gateway}:${this.linkProxy.port}`;
    await this.#run('env', `EVERYNODE_TOKEN=${token}`, ...INSTALL, '--server', server);
  }

  async killAgent(): Promise<void> {
    await this.#signal(AGENT_UNIT, 'KILL');
  }

  async hangAgent(hangs: boolean): Promise<void> {
    await this.#signal(AGENT_UNIT, hangs ? 'STOP' : 'CONT');
  }

  async damageCache(): Promise<void> {
    await this.#run('systemctl', 'stop', AGENT_UNIT);
    await this.#run('sh', '-c', `[ ! -e ${DESIRED} ] || truncate -s -7 ${DESIRED}`);
    await this.#run('systemctl', 'start', '--no-block', AGENT_UNIT);
  }

  async killEngine(): Promise<void> {
    await this.#signal(ENGINES[this.host.engine].unit, 'KILL');
  }

  async hangEngine(hangs: boolean): Promise<void> {
    await this.#signal(ENGINES[this.host.engine].unit, hangs ? 'STOP' : 'CONT');
  }

  async restartEngine(as: 'restart' | 'upgrade'): Promise<void> {
    const { unit } = ENGINES[this.host.engine];
    const others = as === 'upgrade' && this.host.engine === 'docker' ? ['containerd.service'] : [];
    await this.#run('systemctl', 'restart', ...others, unit);
  }

  fillDisk(fills: boolean): void {
    if (fills) this.options.disk.fill();
    else this.options.disk.free();
  }

  lockDisk(locks: boolean): Promise<void> {
    return this.options.disk.lock(locks);
  }

  setClock(to: WrongClock | undefined): void {
    this.options.clock.set(to);
  }

  async lose(percent: number): Promise<void> {
    if (this.#pid > 0) await this.#loss.set(['nsenter', '-t', String(this.#pid), '-n', '-m'], percent);
  }

  async reboot(): Promise<void> {
    await this.#off(['restart', this.name]);
    await this.#find();
  }

  async cutPower(): Promise<void> {
    await this.#off(['kill', '-s', 'KILL', this.name]);
  }

  async restorePower(): Promise<void> {
    await this.#docker('start', this.name);
    await this.#find();
  }

  async lastLogLines(): Promise<string> {
    if (this.#pid === 0) return 'off';
    return this.#run(
      'journalctl',
      '--no-pager',
      '-n',
      '60',
      '-u',
      AGENT_UNIT,
      '-u',
      'docker',
      '-u',
      'podman',
    );
  }

  async close(): Promise<void> {
    this.linkProxy.close();
    this.#containers?.close();
  }

  async #off(command: string[]): Promise<void> {
    this.#containers?.close();
    this.#containers = undefined;
    this.#pid = 0;
    this.#loss.reset();
    await this.#docker(...command);
  }

  /** Finds the host's processes after a boot. Resolves when its engine responds. */
  async #find(): Promise<void> {
    const isThere = async () => {
      const pid = Number(await this.#docker('inspect', '-f', '{{.State.Pid}}', this.name));
      const found = pid > 0 ? await answering(pid, ENGINES[this.host.engine].socket) : undefined;
      if (found) [this.#pid, this.#containers] = [pid, found];
      return found !== undefined;
    };
    await until(isThere, { timeoutMs: BOOT_MS, what: `${this.name} to boot` });
  }

  async #signal(unit: string, signal: string): Promise<void> {
    // A unit that systemd is restarting has no process, so the kill fails.
    await this.#run('systemctl', 'kill', '--kill-who=main', '-s', signal, unit).catch(() => undefined);
  }

  #run(...command: string[]): Promise<string> {
    if (this.#pid === 0) return Promise.reject(new Error(`${this.name} is off`));
    return runHere('nsenter', '-t', String(this.#pid), '-m', '-u', '-i', '-n', '-p', ...command);
  }

  #docker(...args: string[]): Promise<string> {
    return runHere('docker', '-H', this.outer, ...args);
  }
}

/** Opens the engine below a host's root; undefined while it does not respond. */
async function answering(pid: number, socket: string): Promise<EngineContainers | undefined> {
  if (!isSystemd(pid)) return undefined;
  const containers = new EngineContainers(`/proc/${pid}/root${socket}`);
  try {
    await containers.all();
    return containers;
  } catch {
    containers.close();
    return undefined;
  }
}

function isSystemd(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'systemd';
  } catch {
    return false;
  }
}
