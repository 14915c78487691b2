/**
 * Three machines and the hosts of a fleet as network namespaces on one switch, with rules that drop packets. The rules of
 * this machine are not touched. It requires root.
 */
import { existsSync } from 'node:fs';
import { run } from '../../harness/processes/run-system-command.js';

const NEEDED = ['/usr/sbin/nft', '/usr/sbin/ip', '/usr/bin/nsenter'];
export const MACHINES = 3;

/** Returns the reason why this machine cannot run the network, or undefined. */
export function whyNoMachines(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root';
  const missing = NEEDED.filter((path) => !existsSync(path));
  return missing.length > 0 ? `needs ${missing.join(', ')} (see .ci/packages)` : undefined;
}

/** Index of a machine, or the namespace of all hosts. */
export type Place = number | 'hosts';

/** Packets that a machine drops, as an expression of nft such as `tcp dport 2379`. */
export interface Drop {
  readonly at: 'input' | 'output';
  readonly match: string;
}

const HOSTS_NUMBER = 100;
const CLIENT_NUMBER = 200;

export class MachineNetwork {
  readonly #prefix = `ecc${process.pid}`;
  /** A /24 that other runs on this machine do not have. */
  readonly #subnet = `10.${64 + (Math.floor(process.pid / 250) % 32)}.${1 + (process.pid % 250)}`;
  #drops = 0;
  /** Programs outlive this process, and would keep their namespaces. */
  readonly #onExit = () => this.close();

  /** Creates the namespaces. Throws if a command fails; the caller must `close` then, too. */
  open(): void {
    process.on('exit', this.#onExit);
    const lan = this.#namespace('lan');
    run('ip', 'netns', 'add', lan);
    run('ip', '-n', lan, 'link', 'add', 'lan0', 'type', 'bridge');
    run('ip', '-n', lan, 'link', 'set', 'lan0', 'up');
    for (const place of this.#places) {
      const namespace = this.#namespace(place);
      run('ip', 'netns', 'add', namespace);
      run('ip', '-n', namespace, 'link', 'set', 'lo', 'up');
      run(...words(`ip -n ${namespace} link add eth0 type veth peer name ve-${place} netns ${lan}`));
      run(...words(`ip -n ${namespace} addr add ${this.address(place)}/24 dev eth0`));
      run(...words(`ip -n ${namespace} link set eth0 up`));
      run(...words(`ip -n ${lan} link set ve-${place} master lan0 up`));
    }
    // This process is a client of the coordinators.
    run(...words(`ip link add ${this.#prefix} type veth peer name ve-client netns ${lan}`));
    run(...words(`ip addr add ${this.client}/24 dev ${this.#prefix}`));
    run(...words(`ip link set ${this.#prefix} up`));
    run(...words(`ip -n ${lan} link set ve-client master lan0 up`));
  }

  address(place: Place): string {
    return `${this.#subnet}.${place === 'hosts' ? HOSTS_NUMBER : place + 1}`;
  }

  /** Address of this process. */
  get client(): string {
    return `${this.#subnet}.${CLIENT_NUMBER}`;
  }

  /** Command that runs a program there. The program keeps the process id. */
  enter(place: Place): string[] {
    return ['nsenter', `--net=/run/netns/${this.#namespace(place)}`, '--'];
  }

  /** Drops packets until the returned function is called. Both ends see silence, and no connection is closed. */
  drop(place: Place, drops: readonly Drop[]): () => void {
    const table = `drop${++this.#drops}`;
    const chains = drops.map(
      ({ at, match }, index) =>
        `chain c${index} {\ntype filter hook ${at} priority 0; policy accept;\n${match} drop\n}`,
    );
    const [command = '', ...enter] = this.enter(place);
    run(command, ...enter, 'nft', `table inet ${table} {\n${chains.join('\n')}\n}`);
    return () => void run(command, ...enter, 'nft', 'delete', 'table', 'inet', table);
  }

  /** Kills the programs that still run in the namespaces, and deletes them. */
  close(): void {
    process.off('exit', this.#onExit);
    for (const place of [...this.#places, 'lan' as const]) {
      const namespace = this.#namespace(place);
      if (!existsSync(`/run/netns/${namespace}`)) continue;
      for (const pid of run('ip', 'netns', 'pids', namespace).split('\n').filter(Boolean)) kill(Number(pid));
      run('ip', 'netns', 'del', namespace);
    }
  }

  get #places(): Place[] {
    return [...Array(MACHINES).keys(), 'hosts'];
  }

  #namespace(place: Place | 'lan'): string {
    return `${this.#prefix}-${place}`;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has exited by itself.
  }
}

function words(command: string): [string, ...string[]] {
  const [first = '', ...rest] = command.split(' ');
  return [first, ...rest];
}
