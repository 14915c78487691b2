/** A host that chaos may do anything to. What it is made of, `plain-host.ts` and `systemd-host.ts` say. */
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

/** What a host is made of. */
export interface HostOptions {
  kind: EngineKind;
  /** Of Docker: its containers go on while it is away. */
  liveRestore: boolean;
  /** The coordinator's, on loopback. */
  port: number;
  /** For the agent's data. */
  disk: SmallDisk;
  clock: FakeClock;
}

export interface ChaosHost {
  /** Of its Node, too. */
  readonly name: string;
  readonly linkProxy: LinkProxy;
  /** The engine, asked directly; undefined while the host is off. */
  engine(): EngineContainers | undefined;
  /** Whether containers go on while the engine is away. */
  readonly keepsContainers: boolean;
  killAgent(): Promise<void>;
  /** Stops the agent's process, or lets it go on. */
  hangAgent(hangs: boolean): Promise<void>;
  /** As after a power cut on a bad disk: the desired state is rubbish when the agent starts again. */
  damageCache(): Promise<void>;
  killEngine(): Promise<void>;
  hangEngine(hangs: boolean): Promise<void>;
  /** In order, as a person or a package does it. */
  restartEngine(as: 'restart' | 'upgrade'): Promise<void>;
  /** What the agent takes for the wall clock's time from its next start on; undefined: the truth. Its engine keeps the truth. */
  setClock(to: WrongClock | undefined): void;
  /** The disk with the agent's data: leaves no byte free, or frees what was taken. */
  fillDisk(fills: boolean): void;
  /** That disk takes no writes, or does again. */
  lockDisk(locks: boolean): Promise<void>;
  /** Loses so many percent of the packets, each way; 100 is a cut link, 0 a good one. */
  lose(percent: number): Promise<void>;
  reboot(): Promise<void>;
  cutPower(): Promise<void>;
  /** Boots; resolves when the engine answers. */
  restorePower(): Promise<void>;
  /** What agent and engine have said last. */
  lastLogLines(): Promise<string>;
  close(): Promise<void>;
}

/** Runs a command of this machine; answers what it printed. Rejects when it fails or hangs. */
export async function runHere(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(command, args, { timeout: COMMAND_MS, maxBuffer: 64 * 2 ** 20 });
  return stdout.trim();
}

/** Packets to and from everywhere are lost by chance, in the network namespace that the words of `enter` lead into. */
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

  /** The host has booted: its rules are gone. */
  reset(): void {
    this.#rules = [];
  }
}

async function iptables(enter: readonly string[], verb: string, rule: readonly string[]): Promise<void> {
  const [nsenter = '', ...args] = enter;
  await runHere(nsenter, ...args, 'iptables', '-w', verb, ...rule);
}
