/** Sends agents the addresses of all coordinators of the fleet. Exists only if there can be several. */
import { validCoordinatorAddresses } from '../../../shared/link/coordinator-list.js';
import { SharedMessage } from '../../../shared/link/encoding/frame-codec.js';
import { COORDINATORS } from '../../../shared/link/link-features.js';
import type { FromHub, Welcome } from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { LiveSession, LiveSessions } from './live-sessions.js';
import type { Session } from './session.js';
import { SlicedQueue } from './sliced-queue.js';

/** The coordinators of the fleet. */
export interface CoordinatorList {
  /** Returns the addresses, `https://HOST:PORT`, the leader first. */
  list(): readonly string[];
  /** Returns names and addresses of their machines, also those that are not advertised. */
  machineNames(): readonly string[];
  /** Calls the listener after each change of the list. */
  onChange(listener: () => void): void;
}

export class CoordinatorListSender {
  readonly #source: CoordinatorList;
  readonly #live: LiveSessions;
  readonly #queue: SlicedQueue<Session>;
  #current: SharedMessage<FromHub> | undefined;

  constructor(source: CoordinatorList, live: LiveSessions, deps: { clock: Clock; log: Logger }) {
    this.#source = source;
    this.#live = live;
    this.#queue = new SlicedQueue(deps, 'addresses of coordinators', (session) => {
      if (this.#current) session.sendShared(this.#current);
    });
    source.onChange(() => this.#send());
  }

  /** Returns the field for an agent with these features. */
  welcomeField(features: readonly string[]): Pick<Welcome, 'coordinators'> {
    const coordinators = this.#addresses();
    return features.includes(COORDINATORS) && coordinators.length > 0 ? { coordinators } : {};
  }

  /** Later changes are sent to this agent if it has the feature. */
  connected(entry: LiveSession, features: readonly string[]): void {
    if (features.includes(COORDINATORS)) entry.learnsCoordinators = true;
  }

  /** A session that still waits for an earlier list gets only the newest one. */
  #send(): void {
    const coordinators = this.#addresses();
    if (coordinators.length === 0) return;
    this.#current = new SharedMessage<FromHub>({ kind: 'coordinators', coordinators });
    for (const { session, learnsCoordinators } of this.#live.all())
      if (learnsCoordinators) this.#queue.add(session);
  }

  #addresses(): string[] {
    return validCoordinatorAddresses(this.#source.list());
  }
}
