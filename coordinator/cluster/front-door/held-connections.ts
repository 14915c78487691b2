/** Connections that wait until a coordinator leads. */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import type { Arrival } from '../../api/limits/pre-handshake-sockets.js';
import { NetworkLimit } from './network-limit.js';

/** Covers an election after the leader's lease has ended. Clients repeat a request that takes longer. */
export const MAX_HOLD_MS = 10_000;
/** As many as may wait in the leader without a TLS handshake. */
export const MAX_HELD = { total: 4_096, perNetwork: 1_024 };

/** A connection whose first TLS record has arrived. The socket returns it again when it is read. */
export interface ClientConnection {
  readonly socket: Socket;
  readonly arrival: Arrival;
  /** When it arrived, by the monotonic clock. */
  readonly since: number;
}

interface HeldConnectionsOptions {
  readonly clock: Clock;
  /** Called after the connection was closed. */
  readonly onRefused: (connection: ClientConnection, code: 429 | 503, reason: string) => void;
}

export class HeldConnections {
  readonly #options: HeldConnectionsOptions;
  readonly #limit = new NetworkLimit(MAX_HELD);
  /** Functions that forget a connection. */
  readonly #held = new Map<ClientConnection, () => void>();

  constructor(options: HeldConnectionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Holds the connection until `MAX_HOLD_MS` after it arrived. */
  add(connection: ClientConnection): void {
    const { clock } = this.#options;
    const { socket, arrival, since } = connection;
    if (socket.destroyed) return;
    if (!this.#limit.tryAdd(arrival.address)) {
      this.#refuse(connection, 429, 'too many connections wait for a leading coordinator');
      return;
    }
    const timer: Timer = clock.after(since + MAX_HOLD_MS - clock.monotonic(), () =>
      this.#refuse(connection, 503, 'no coordinator leads'),
    );
    const forget = () => {
      timer.cancel();
      socket.off('close', forget);
      if (this.#held.delete(connection)) this.#limit.delete(arrival.address);
    };
    this.#held.set(connection, forget);
    socket.once('close', forget);
  }

  /** Returns all connections in order of arrival, and holds them no longer. */
  takeAll(): ClientConnection[] {
    const all = [...this.#held.keys()];
    for (const forget of [...this.#held.values()]) forget();
    return all;
  }

  #refuse(connection: ClientConnection, code: 429 | 503, reason: string): void {
    this.#held.get(connection)?.();
    connection.socket.destroy();
    this.#options.onRefused(connection, code, reason);
  }
}
