/** Pairs of connections: from a client to this coordinator, and from here to the leader. */
import { connect, type Socket } from 'node:net';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { ClientConnection } from './held-connections.js';
import { NetworkLimit } from './network-limit.js';

export const CONNECT_TIMEOUT_MS = 2_000;
/**
 * Below the 28,232 local ports that Linux uses for connections to one address. One network cannot take them all, but
 * 10,000 hosts may be behind one router.
 */
const MAX_SPLICED = { total: 24_000, perNetwork: 18_000 };
/** Finds a peer that disappeared without closing the connection. */
export const TCP_KEEP_ALIVE_MS = 30_000;

interface Target {
  readonly host: string;
  readonly port: number;
  /** Returns the bytes to send before those of the client. Called when the target has accepted the connection. */
  header(): Buffer;
}

interface Unforwarded {
  /** The leader could not be reached. The connection is open, and nothing was read from it. */
  onUnreachable(connection: ClientConnection): void;
  /** There are too many. The connection is closed. */
  onTooMany(connection: ClientConnection): void;
}

export class SplicedConnections {
  readonly #clock: Clock;
  readonly #events: Unforwarded;
  readonly #limit: NetworkLimit;
  readonly #pairs = new Set<{ close: () => void }>();

  /** `threads`: how many threads of this process share the limits. */
  constructor(clock: Clock, events: Unforwarded, threads = 1) {
    this.#clock = clock;
    this.#events = events;
    const { total, perNetwork } = MAX_SPLICED;
    this.#limit = new NetworkLimit({
      total: Math.ceil(total / threads),
      perNetwork: Math.ceil(perNetwork / threads),
    });
  }

  get size(): number {
    return this.#limit.size;
  }

  /** Connects the client with the target. A side that fails closes the other one; an end of data is passed on. */
  add(connection: ClientConnection, target: Target): void {
    const { socket: client, arrival } = connection;
    if (client.destroyed) return;
    if (!this.#limit.tryAdd(arrival.address)) {
      client.destroy();
      this.#events.onTooMany(connection);
      return;
    }
    const leader = connectTo(target);
    const timer = this.#clock.after(CONNECT_TIMEOUT_MS, () => leader.destroy());
    let isConnected = false;
    const onClientClose = () => closeAfter(client, leader);
    const pair = {
      close: () => {
        if (isConnected) client.destroy();
        leader.destroy();
      },
    };
    this.#pairs.add(pair);
    // Without a listener, a client that resets its connection would end the process or the thread.
    client.on('error', ignore);
    client.once('close', onClientClose);
    leader.once('connect', () => {
      timer.cancel();
      if (client.destroyed) return;
      isConnected = true;
      leader.write(target.header());
      pump(client, leader);
    });
    leader.once('close', () => {
      timer.cancel();
      this.#pairs.delete(pair);
      this.#limit.delete(arrival.address);
      if (isConnected || client.destroyed) {
        closeAfter(leader, client);
        return;
      }
      client.off('close', onClientClose).off('error', ignore);
      this.#events.onUnreachable(connection);
    });
  }

  /** Closes the pairs. A client whose pair is not connected yet is unreachable for its target, and stays open. */
  closeAll(): void {
    for (const pair of [...this.#pairs]) pair.close();
  }
}

function connectTo({ host, port }: Target): Socket {
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS };
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true, ...keepAlive });
  socket.on('error', ignore);
  return socket;
}

/** `pipe` reads no faster than the other side accepts, and passes the end of data on. */
function pump(client: Socket, leader: Socket): void {
  client.allowHalfOpen = true;
  client.pipe(leader);
  leader.pipe(client);
}

/** Closes `other` because `closed` is closed. If both directions had ended, `other` may still send its last bytes. */
function closeAfter(closed: Socket, other: Socket): void {
  if (closed.readableEnded && closed.writableFinished) return;
  other.destroy();
}

function ignore(): void {
  // The `close` event follows.
}
