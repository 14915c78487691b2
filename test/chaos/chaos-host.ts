/** A host that chaos tests may break in every way. Implementations: `process-host.ts` and `systemd-host.ts`. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { EngineContainers } from '../harness/engines/engine-containers.js';
import type { EngineKind } from '../harness/engines/test-engines.js';
import type { SmallDisk } from '../harness/pods/small-disk.js';
import type { WrongClock } from './chaos-plan.js';
import type { FakeClock } from './libfaketime-clock.js';
import type { LinkProxy } from './link-proxy.js';

const COMMAND_MS = 60_000;
const execute = promisify(execFile);

/** Settings of a host. */
export interface HostOptions {
  kind: EngineKind;
  /** For Docker: its containers keep running while the daemon is down. */
  liveRestore: boolean;
  /** The coordinator's loopback port. */
  port: number;
  /** Disk for the agent's data. */
  disk: SmallDisk;
  clock: FakeClock;
}

export interface ChaosHost {
  /** Also the name of its Node. */
  readonly name: string;
  readonly linkProxy: LinkProxy;
  /** The engine's API without the agent; undefined while the host is off. */
  engine(): EngineContainers | undefined;
  /** True if containers keep running while the engine is down. */
  readonly keepsContainers: boolean;
  killAgent(): Promise<void>;
  /** Suspends the agent's process, or resumes it. */
  hangAgent(hangs: boolean): Promise<void>;
  /** Simulates a power cut on a faulty disk: the agent's stored desired state is corrupt at its next start. */
  damageCache(): Promise<void>;
  killEngine(): Promise<void>;
  hangEngine(hangs: boolean): Promise<void>;
  /** Restarts the engine gracefully, like an operator or a package upgrade. */
  restartEngine(as: 'restart' | 'upgrade'): Promise<void>;
  /**
   * Sets the wall clock that the agent sees from its next start on; undefined: the correct time. The engine keeps the
   * correct time.
   */
  setClock(to: WrongClock | undefined): void;
  /** Fills the disk with the agent's data, or frees the space again. */
  fillDisk(fills: boolean): void;
  /** Makes that disk read-only, or writable again. */
  lockDisk(locks: boolean): Promise<void>;
  /** Drops this percentage of packets in each direction: 100 cuts the link, 0 repairs it. */
  lose(percent: number): Promise<void>;
  reboot(): Promise<void>;
  cutPower(): Promise<void>;
  /** Boots the host. Resolves when the engine responds. */
  restorePower(): Promise<void>;
  /** The last log lines of agent and engine. */
  lastLogLines(): Promise<string>;
  close(): Promise<void>;
}

/** Runs a command on this machine and returns its output. Rejects if it fails or hangs. */
export async function runHere(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(command, args, { timeout: COMMAND_MS, maxBuffer: 64 * 2 ** 20 });
  return stdout.trim();
}

/** Drops packets at random in a network namespace. `enter` is the command prefix that enters it. */
export class PacketLoss {
  #rules: string[][] = [];

  async set(enter: readonly string[], percent: number): Promise<void> {
    for (const rule of this.#rules) await iptables(enter, '-D', rule);
    this.#rules = [];
    if (percent === 0) return;
    const chance = ['-m', 'statistic', '--mode', 'random', '--probability', String(percent / 100)];
    const drop = [...(percent < 100 ? chance : []), '-j', 'DROP'];
    this.#rules = [
      ['INPUT', '-i', 'eth0', ...drop],
      ['OUTPUT', '-o', 'eth0', ...drop],
    ];
    for (const rule of this.#rules) await iptables(enter, '-A', rule);
  }

  /** Call after a boot, which removes the rules. */
  reset(): void {
    this.#rules = [];
  }
}

async function iptables(enter: readonly string[], verb: string, rule: readonly string[]): Promise<void> {
  const [nsenter = '', ...args] = enter;
  await runHere(nsenter, ...args, 'iptables', '-w', verb, ...rule);
}
