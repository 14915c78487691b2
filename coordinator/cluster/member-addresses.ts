/** The addresses of all members, for the hub, which sends them to agents. */
import type { Logger } from '../../shared/process/output/logger.js';
import { type Clock, every } from '../../shared/process/time/clock.js';
import type { ClusterView } from './cluster-member.js';

/** Members change by commands of an operator, so a late list does no harm. */
const INTERVAL_MS = 5_000;

interface MemberAddressesDeps {
  view: Pick<ClusterView, 'members' | 'self'>;
  clock: Clock;
  log: Logger;
}

export class MemberAddresses {
  readonly name = 'member addresses';
  readonly #deps: MemberAddressesDeps;
  readonly #listeners: (() => void)[] = [];
  #servers: readonly string[] = [];
  #stop: () => void = () => undefined;

  constructor(deps: MemberAddressesDeps) {
    this.#deps = deps;
  }

  /** The leader, which is this process, first. */
  list(): readonly string[] {
    return this.#servers;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Resolves when the addresses are known, or when etcd did not answer. */
  async start(): Promise<void> {
    this.#stop = every(this.#deps.clock, INTERVAL_MS, () => void this.refresh());
    await this.refresh();
  }

  stop(): void {
    this.#stop();
  }

  /** Without an answer of etcd the addresses stay. */
  async refresh(): Promise<void> {
    const { view, log } = this.#deps;
    try {
      const members = await view.members();
      const isOther = ({ member }: (typeof members)[number]) => member.id !== view.self;
      const servers = [...members.filter((each) => !isOther(each)), ...members.filter(isOther)];
      this.#set(servers.map(({ member }) => member.server));
    } catch (error) {
      log.debug({ err: error }, 'the addresses of the coordinators were not read');
    }
  }

  #set(servers: readonly string[]): void {
    if (servers.join() === this.#servers.join()) return;
    this.#servers = servers;
    for (const listener of this.#listeners) listener();
  }
}
