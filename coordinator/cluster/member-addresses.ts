/** The addresses of all members, for agents: read from the cluster's keys while this member leads. */
import type { Logger } from '../../shared/process/output/logger.js';
import { type Clock, every } from '../../shared/process/time/clock.js';
import { LogUnavailable } from '../store/replica/replicated-log.js';
import type { ClusterView } from './cluster-member.js';

const POLL_INTERVAL_MS = 5_000;

interface MemberAddressesDeps {
  view: Pick<ClusterView, 'self' | 'members'>;
  clock: Clock;
  log: Logger;
}

export class MemberAddresses {
  readonly name = 'member addresses';
  readonly #deps: MemberAddressesDeps;
  readonly #listeners: (() => void)[] = [];
  #list: readonly string[] = [];
  #stop: () => void = () => undefined;

  constructor(deps: MemberAddressesDeps) {
    this.#deps = deps;
  }

  /** Resolves after the first read, also if it failed: agents then keep the addresses that they know. */
  async start(): Promise<void> {
    this.#stop = every(this.#deps.clock, POLL_INTERVAL_MS, () => void this.refresh());
    await this.refresh();
  }

  stop(): void {
    this.#stop();
  }

  /** Returns `https://HOST:PORT` of each member, this one first. Empty before the first successful read. */
  list(): readonly string[] {
    return this.#list;
  }

  /** Calls the listener after each change of the list. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Reads the members. A read that fails changes nothing. */
  async refresh(): Promise<void> {
    const { view, log } = this.#deps;
    try {
      const members = (await view.members()).map(({ member }) => member);
      const own = members.filter(({ id }) => id === view.self);
      const others = members.filter(({ id }) => id !== view.self);
      const next = [...own, ...others].map(({ server }) => server);
      if (next.join() === this.#list.join()) return;
      this.#list = next;
      for (const listener of this.#listeners) listener();
    } catch (error) {
      if (!(error instanceof LogUnavailable)) log.warn({ err: error }, 'the members could not be read');
    }
  }
}
