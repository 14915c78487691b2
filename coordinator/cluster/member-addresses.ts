/** The addresses of all members, for the hub: it sends them to agents, and issues no host a certificate for them. */
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
  /** Names and addresses of each member's machine. A member that is down keeps those of its last status. */
  #names = new Map<string, readonly string[]>();
  #stop: () => void = () => undefined;

  constructor(deps: MemberAddressesDeps) {
    this.#deps = deps;
  }

  /** The leader, which is this process, first. */
  list(): readonly string[] {
    return this.#servers;
  }

  /** Names and addresses of the members' machines, also those that are not advertised. */
  machineNames(): readonly string[] {
    return [...this.#names.values()].flat();
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
      const namesOf = ({ member, status }: (typeof members)[number]) =>
        status?.names ?? this.#names.get(member.id) ?? [member.name];
      this.#names = new Map(members.map((each) => [each.member.id, namesOf(each)]));
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
