/** The addresses of the fleet's coordinators that this host knows, and the one that the link uses. */
import { validCoordinatorAddresses } from '../../shared/link/coordinator-list.js';
import { LINK_PATH } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import { type AddressRound, type AddressStep, nextAddress } from '../decisions/link/next-address.js';

/** What survives a restart of the agent. */
export interface StoredAddresses {
  /** The last list from the coordinator, the leader of that time first. */
  readonly coordinators: readonly string[];
  /** The address of the last live link. */
  readonly lastGood?: string | undefined;
}

interface CoordinatorAddressesOptions {
  /** `https://HOST:PORT` of the settings; not empty. */
  configured: readonly string[];
  stored?: StoredAddresses;
  /** Resolves when the addresses are on disk; absent: they are kept only in memory. */
  save?: (addresses: StoredAddresses) => Promise<void>;
  log: Logger;
}

export class CoordinatorAddresses {
  readonly #options: CoordinatorAddressesOptions;
  readonly #failed = new Set<string>();
  #failedRounds = 0;
  #stored: StoredAddresses;
  #step: AddressStep & { kind: 'connect' };
  #saving: Promise<void> = Promise.resolve();

  constructor(options: CoordinatorAddressesOptions) {
    this.#options = options;
    this.#stored = options.stored ?? { coordinators: [] };
    this.#step = this.#firstOfRound();
  }

  /** `https://HOST:PORT` of the current connection, or of the next attempt. HTTPS requests use it as well. */
  get current(): string {
    return this.#step.address;
  }

  get server(): URL {
    return new URL(this.current);
  }

  /** `wss://HOST:PORT/link`. */
  get linkUrl(): string {
    const url = new URL(LINK_PATH, this.current);
    url.protocol = 'wss:';
    return url.href;
  }

  /** Timeout for the TCP connection; undefined: only the timeout of the whole handshake. */
  get connectTimeoutMs(): number | undefined {
    return this.#step.connectTimeoutMs;
  }

  /** Timeout for the TCP and TLS connection; undefined: only the timeout of the whole handshake. */
  get handshakeTimeoutMs(): number | undefined {
    return this.#step.handshakeTimeoutMs;
  }

  /** The attempt at `current` failed. Returns true if `current` is now another address of this round: try it at once. */
  failed(): boolean {
    this.#failed.add(this.current);
    const step = nextAddress(this.#round());
    if (step.kind === 'connect') {
      this.#step = step;
      return true;
    }
    this.#failedRounds += 1;
    this.startRound();
    return false;
  }

  /** Starts another round, after a live link or after a goodbye that every address would repeat. */
  startRound(): void {
    this.#failed.clear();
    this.#step = this.#firstOfRound();
  }

  /** The link at `current` is live. Later rounds start with it. */
  connected(): void {
    this.#failed.clear();
    this.#failedRounds = 0;
    if (this.#stored.lastGood !== this.current) this.#store({ ...this.#stored, lastGood: this.current });
  }

  /** The coordinator sent the addresses of the whole fleet. The open link is not affected. */
  learn(list: readonly string[]): void {
    const coordinators = validCoordinatorAddresses(list);
    const { log } = this.#options;
    if (coordinators.length < list.length)
      log.warn({ list }, 'addresses of coordinators ignored: not https://HOST:PORT');
    if (coordinators.length === 0 || isSameList(coordinators, this.#stored.coordinators)) return;
    log.info({ coordinators }, 'learnt the addresses of the coordinators');
    this.#store({ ...this.#stored, coordinators });
  }

  /** Resolves when all changes are on disk, or could not be written. */
  flush(): Promise<void> {
    return this.#saving;
  }

  /** A change that cannot be written is learnt again at the next welcome. */
  #store(next: StoredAddresses): void {
    this.#stored = next;
    const { save, log } = this.#options;
    if (!save) return;
    this.#saving = this.#saving
      .then(() => save(next))
      .catch((error: unknown) => log.warn({ err: error }, 'addresses of the coordinators not stored'));
  }

  #round(): AddressRound {
    const { coordinators: learnt, lastGood } = this.#stored;
    const { configured } = this.#options;
    return { learnt, configured, lastGood, failed: this.#failed, failedRounds: this.#failedRounds };
  }

  #firstOfRound(): AddressStep & { kind: 'connect' } {
    const step = nextAddress(this.#round());
    if (step.kind === 'wait') throw new Error('no address of a coordinator');
    return step;
  }
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index]);
}
