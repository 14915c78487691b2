/** The sockets of the DNS server: opened by this process, or received from systemd. */
import { createSocket, type Socket as DatagramSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

interface SocketListener {
  onMessage: (message: Buffer, from: RemoteInfo) => void;
  onConnection: (socket: Socket) => void;
}

export interface ServerSockets {
  readonly udp: DatagramSocket;
  /** True if the sockets outlive this process, so that queries wait while the agent restarts. */
  readonly areHeld: boolean;
  attach(listener: SocketListener): void;
  /** Resolves when no more queries reach the listener. */
  detach(): Promise<void>;
}

/** Opens both sockets. Rejects if one of them is in use. */
export async function openSockets(address: string, port: number): Promise<ServerSockets> {
  const udp = createSocket('udp4');
  const tcp = createServer();
  try {
    udp.bind({ address, port, exclusive: true });
    await once(udp, 'listening');
    tcp.listen({ host: address, port: udp.address().port, exclusive: true });
    await once(tcp, 'listening');
  } catch (error) {
    udp.close();
    tcp.close();
    throw error;
  }
  const sockets = new HeldSockets(udp, tcp);
  return {
    udp,
    areHeld: false,
    attach: (listener) => sockets.attach(listener),
    detach: async () => {
      await sockets.detach();
      udp.close();
      tcp.close();
    },
  };
}

/** Passed by systemd from 3 on (sd_listen_fds(3)). */
const FIRST_FD = 3;
let inherited: Promise<HeldSockets | undefined> | undefined;

/**
 * Resolves with the sockets that systemd holds for this process; undefined if there are none. They belong to the
 * process and stay open until `releaseInheritedSockets`: after a reload of the settings, systemd does not pass them
 * again.
 */
export function inheritedSockets(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ServerSockets | undefined> {
  inherited ??= takeInherited(environment);
  return inherited;
}

/**
 * Call before the last stop of the server. This process then closes its sockets when the server detaches, and a later
 * query waits in systemd's sockets for the next process. Otherwise this process would read the query, and exit.
 */
export async function releaseInheritedSockets(): Promise<void> {
  const sockets = await inherited?.catch(() => undefined);
  sockets?.release();
}

async function takeInherited({
  LISTEN_PID,
  LISTEN_FDS,
}: Readonly<Record<string, string | undefined>>): Promise<HeldSockets | undefined> {
  if (Number(LISTEN_PID) !== process.pid || Number(LISTEN_FDS) !== 2) return undefined;
  // systemd passes the sockets in the order of the unit: datagram, then stream.
  const udp = createSocket('udp4');
  const tcp = createServer();
  // Before the calls: Node emits the event of a received datagram socket at once.
  const areListening = Promise.all([once(udp, 'listening'), once(tcp, 'listening')]);
  udp.bind({ fd: FIRST_FD });
  tcp.listen({ fd: FIRST_FD + 1 });
  await areListening;
  // They must not keep a process alive that has stopped serving.
  udp.unref();
  tcp.unref();
  return new HeldSockets(udp, tcp);
}

const MAX_WAITING = 256;

/** Sockets that outlive their listener. Queries wait while none is attached, as during a reload of the settings. */
export class HeldSockets implements ServerSockets {
  readonly udp: DatagramSocket;
  readonly areHeld = true;
  readonly #tcp: Server;
  #isReleased = false;
  #isClosed = false;
  #listener: SocketListener | undefined;
  #waiting: ((listener: SocketListener) => void)[] = [];

  constructor(udp: DatagramSocket, tcp: Server) {
    this.udp = udp;
    this.#tcp = tcp;
    udp.on('message', (message, from) => this.#pass((listener) => listener.onMessage(message, from)));
    // A send to a client that is gone must not end the agent.
    udp.on('error', () => undefined);
    tcp.on('connection', (socket) => this.#pass((listener) => listener.onConnection(socket)));
    tcp.on('error', () => undefined);
  }

  attach(listener: SocketListener): void {
    this.#listener = listener;
    for (const pass of this.#waiting.splice(0)) pass(listener);
  }

  detach(): Promise<void> {
    this.#listener = undefined;
    if (this.#isReleased) this.#close();
    return Promise.resolve();
  }

  /** The sockets are closed as soon as no listener is attached. */
  release(): void {
    this.#isReleased = true;
    if (!this.#listener) this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.udp.close();
    this.#tcp.close();
  }

  #pass(to: (listener: SocketListener) => void): void {
    if (this.#listener) to(this.#listener);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(to);
  }
}
