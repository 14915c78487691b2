/**
 * The port of a coordinator in a cluster. It is open during the whole lifetime of the process, so every address of the
 * cluster serves: a follower forwards connections to the leader without decrypting them.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { LISTEN_BACKLOG, listenFailure } from '../../api/http/tls-options.js';
import {
  type Arrival,
  type ForwardingHeaders,
  PreHandshakeSockets,
} from '../../api/limits/pre-handshake-sockets.js';
import { RefusedPeers } from '../../api/limits/refused-peers.js';
import { type ClientConnection, HeldConnections } from './held-connections.js';
import { DOOR_ID_BYTES, encodeProxyHeader, headerKey } from './proxy-header.js';
import { LeaderHeaders, SignedHeaders } from './received-headers.js';
import { SplicedConnections, TCP_KEEP_ALIVE_MS } from './spliced-connections.js';

/** Interval at which held connections try a leader again that cannot be reached. */
const RETRY_MS = 500;
const HTTPS_PORT = 443;

interface FrontDoorOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** A secret that all coordinators of the fleet share. Headers are signed with a key that is derived from it. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The coordinator that leads. */
interface LeaderTarget {
  /** `https://HOST:PORT`. */
  readonly server: string;
  readonly term: number;
}

/** What the leader's API needs of the door. */
export interface LeaderDoor {
  readonly port: number;
  /** Accepts connections that followers forward to the leader of this term. */
  readonly forwarding: ForwardingHeaders;
  /** `server` accepts the connections of the port from now on, and those that were held. Final. */
  serveWith(server: Server): Promise<void>;
}

/** Connections of a door that does not serve. */
interface FrontDoorCounts {
  /** The first TLS record has not arrived. */
  readonly silent: number;
  readonly held: number;
  readonly forwarded: number;
}

type Mode =
  | { readonly kind: 'wait' }
  | { readonly kind: 'splice'; readonly leader: LeaderTarget; readonly host: string; readonly port: number }
  | { readonly kind: 'serve'; readonly server: Server }
  | { readonly kind: 'closed' };

/** Resolves when the port is open. Throws `ExitError` if it cannot be used. */
export async function openFrontDoor(options: FrontDoorOptions): Promise<FrontDoor> {
  const { host, port } = options;
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS };
  const listener = createServer({ noDelay: true, ...keepAlive });
  const door = new FrontDoor(options, listener);
  try {
    await listening(listener, () => listener.listen({ host, port, backlog: LISTEN_BACKLOG }));
  } catch (error) {
    throw listenFailure(error, host, port);
  }
  return door;
}

/** Holds connections until `spliceTo` or `serveWith` is called. */
export class FrontDoor {
  readonly #listener: Server;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #key: Buffer;
  readonly #id = randomBytes(DOOR_ID_BYTES).toString('hex');
  readonly #refused: RefusedPeers;
  readonly #silent: PreHandshakeSockets;
  readonly #held: HeldConnections;
  readonly #spliced: SplicedConnections;
  #mode: Mode = { kind: 'wait' };
  /** The leader of the forwarded connections. */
  #lastLeader: LeaderTarget | undefined;
  #sequence = 0;
  #retry: Timer | undefined;

  constructor({ clock, log, key }: FrontDoorOptions, listener: Server) {
    this.#log = log;
    this.#listener = listener;
    this.#clock = clock;
    this.#key = headerKey(key);
    this.#refused = new RefusedPeers({ clock, log });
    this.#held = new HeldConnections({ clock, onRefused: (...refusal) => this.#report(...refusal) });
    this.#spliced = new SplicedConnections(clock, {
      onUnreachable: (connection) => this.#holdAndRetry(connection),
      onTooMany: (connection) => this.#report(connection, 429, 'too many forwarded connections'),
    });
    this.#silent = new PreHandshakeSockets({
      clock,
      forwarding: new SignedHeaders(this.#key),
      onFirstRecord: (socket, arrival) => this.#arrived(socket, arrival),
      onRefused: (refusal) => this.#refused.report({ path: '', ...refusal }),
    });
    listener.on('connection', (socket) => this.#silent.add(socket));
  }

  get port(): number {
    const address = this.#listener.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  get counts(): FrontDoorCounts {
    return { silent: this.#silent.size, held: this.#held.size, forwarded: this.#spliced.size };
  }

  /**
   * Forwards connections to this leader from now on, those that are held first. Connections to another leader are
   * closed. Undefined: no leader is known. New connections are held then; forwarded ones stay open, because a follower
   * that is cut off from etcd does not know whether the leader changed.
   */
  spliceTo(leader: LeaderTarget | undefined): void {
    const mode = this.#mode;
    if (mode.kind === 'serve' || mode.kind === 'closed') return;
    if (leader === undefined) {
      if (mode.kind === 'splice') this.#log.warn('no leader is known: new connections wait for one');
      this.#mode = { kind: 'wait' };
      return;
    }
    if (leader.server !== this.#lastLeader?.server || leader.term !== this.#lastLeader.term) {
      this.#log.info({ server: leader.server, term: leader.term }, 'connections are forwarded to the leader');
      this.#spliced.closeAll();
    }
    this.#lastLeader = leader;
    const { hostname, port } = new URL(leader.server);
    const host = hostname.replace(/^\[|\]$/g, '');
    this.#mode = { kind: 'splice', leader, host, port: Number(port || HTTPS_PORT) };
    this.#release();
  }

  /** The door of this process as the leader of `term`. */
  leading(term: number): LeaderDoor {
    return {
      port: this.port,
      forwarding: new LeaderHeaders(this.#key, term),
      serveWith: (server) => this.#serveWith(server),
    };
  }

  /** Closes the port unless a server has taken it over, and all connections of the door. */
  async close(): Promise<void> {
    const isServing = this.#mode.kind === 'serve';
    this.#mode = { kind: 'closed' };
    this.#retry?.cancel();
    this.#silent.close();
    for (const { socket } of this.#held.takeAll()) socket.destroy();
    this.#spliced.closeAll();
    if (!isServing) await new Promise<void>((resolve) => this.#listener.close(() => resolve()));
  }

  /** The server takes over the listening handle, so a connection of a leader passes through no code of the door. */
  async #serveWith(server: Server): Promise<void> {
    this.#mode = { kind: 'serve', server };
    this.#retry?.cancel();
    this.#spliced.closeAll();
    await listening(server, () => server.listen(this.#listener));
    this.#release();
  }

  #release(): void {
    for (const connection of this.#held.takeAll()) this.#dispatch(connection);
  }

  #arrived(socket: Socket, arrival: Arrival): void {
    socket.on('error', ignore);
    this.#dispatch({ socket, arrival, since: this.#clock.monotonic() });
  }

  #dispatch(connection: ClientConnection): void {
    const mode = this.#mode;
    if (mode.kind === 'wait') this.#held.add(connection);
    else if (mode.kind === 'splice') this.#forward(connection, mode);
    else if (mode.kind === 'serve') passOn(connection, mode.server);
    else connection.socket.destroy();
  }

  #forward(connection: ClientConnection, { host, port, leader }: Mode & { kind: 'splice' }): void {
    if (connection.arrival.path === 'forwarded') {
      // Two followers that each regard the other one as the leader would forward a connection without end.
      connection.socket.destroy();
      this.#report(connection, 421, 'forwarded to a coordinator that does not lead');
      return;
    }
    const { remoteAddress, remotePort, localAddress, localPort } = connection.socket;
    if (!remoteAddress || remotePort === undefined || !localAddress || localPort === undefined) {
      // The client has reset the connection, so the kernel no longer knows its addresses.
      connection.socket.destroy();
      return;
    }
    const ends = {
      client: { address: remoteAddress, port: remotePort },
      server: { address: localAddress, port: localPort },
    };
    const header = () => {
      this.#sequence += 1;
      return encodeProxyHeader(
        { ...ends, doorId: this.#id, sequence: this.#sequence, term: leader.term },
        this.#key,
      );
    };
    this.#spliced.add(connection, { host, port, header });
  }

  #holdAndRetry(connection: ClientConnection): void {
    if (this.#mode.kind !== 'splice') {
      this.#dispatch(connection);
      return;
    }
    this.#held.add(connection);
    this.#retry ??= this.#clock.after(RETRY_MS, () => {
      this.#retry = undefined;
      this.#release();
    });
  }

  #report({ arrival }: ClientConnection, code: number, reason: string): void {
    this.#refused.report({ path: '', remoteAddress: arrival.address, code, reason });
  }
}

/** The server reads a forwarding header again, and decides with what only the leader knows. */
function passOn({ socket, arrival }: ClientConnection, server: Server): void {
  socket.off('error', ignore);
  if (socket.destroyed) return;
  if (arrival.path === 'forwarded') socket.unshift(arrival.header);
  server.emit('connection', socket);
}

function listening(server: Server, listen: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve();
    });
    listen();
  });
}

function ignore(): void {
  // The `close` event follows.
}
