/** Serves DNS over UDP and TCP to clients on this host. */
import type { Socket as DatagramSocket, RemoteInfo } from 'node:dgram';
import type { Socket } from 'node:net';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { MessageStream } from '../messages/message-stream.js';
import type { DnsHandler } from './dns-handler.js';
import type { ServerSockets } from './server-sockets.js';

interface DnsServerDeps {
  handler: Pick<DnsHandler, 'handle' | 'cachedReply'>;
  /** True if the address belongs to this host or to a container on it. */
  isLocalClient: (address: string) => boolean;
  clock: Clock;
  log: Logger;
}

/** Queries in progress. More are dropped, and their clients repeat them. */
const MAX_QUERIES = 512;
const MAX_QUERIES_PER_CLIENT = 128;
const MAX_CONNECTIONS = 64;
const MAX_CONNECTIONS_PER_CLIENT = 16;
/** Replies that a client may leave unread on a connection. The kernel's buffers take some 100 kB more. */
const MAX_UNREAD_BYTES = 256 * 1024;
/** Time for queries in progress when the agent stops. A client would wait seconds before it repeats a lost query. */
const STOP_MS = 1_000;
/** RFC 7766 recommends a few seconds. */
const IDLE_MS = 10_000;
/** Least time between two logs of a failed query, because a Pod may repeat the query that fails. */
const LOG_INTERVAL_MS = 60_000;

export class DnsServer {
  readonly #deps: DnsServerDeps;
  readonly #queries = new LimitedCount(MAX_QUERIES, MAX_QUERIES_PER_CLIENT);
  readonly #connections = new LimitedCount(MAX_CONNECTIONS, MAX_CONNECTIONS_PER_CLIENT);
  readonly #open = new Set<Socket>();
  readonly #inProgress = new Set<Promise<void>>();
  #sockets: ServerSockets | undefined;
  #hasRejected = false;
  #received = 0;
  #failureLoggedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: DnsServerDeps) {
    this.#deps = deps;
  }

  /** Number of queries since the start. */
  get queries(): number {
    return this.#received;
  }

  serve(sockets: ServerSockets): void {
    this.#sockets = sockets;
    sockets.attach({
      onMessage: (message, from) => this.#onMessage(sockets.udp, message, from),
      onConnection: (socket) => this.#onConnection(socket),
    });
  }

  /** Resolves when no more queries are read. Queries in progress are answered first, for at most a second. */
  async stop(): Promise<void> {
    let timer: Timer | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = this.#deps.clock.after(STOP_MS, resolve);
    });
    await Promise.race([Promise.all(this.#inProgress), timeout]);
    timer?.cancel();
    const sockets = this.#sockets;
    this.#sockets = undefined;
    for (const socket of this.#open) socket.destroy();
    await sockets?.detach();
  }

  #onMessage(udp: DatagramSocket, message: Buffer, from: RemoteInfo): void {
    // Only a forged packet has no source port, and sending to it throws.
    if (from.port === 0 || !this.#isAllowed(from.address)) return;
    const send = (reply: Buffer): void => {
      // The client or its network may be gone.
      if (this.#sockets) udp.send(reply, from.port, from.address, () => undefined);
    };
    const cached = this.#deps.handler.cachedReply(message);
    if (!cached) {
      this.#answer(message, 'udp', from.address, send);
      return;
    }
    this.#received += 1;
    send(cached);
  }

  #onConnection(socket: Socket): void {
    const client = socket.remoteAddress ?? '';
    socket.on('error', () => socket.destroy());
    if (!this.#isAllowed(client) || !this.#connections.add(client)) {
      socket.destroy();
      return;
    }
    this.#open.add(socket);
    const startIdleTimer = () => this.#deps.clock.after(IDLE_MS, () => socket.destroy());
    let idle = startIdleTimer();
    socket.on('close', () => {
      idle.cancel();
      this.#open.delete(socket);
      this.#connections.remove(client);
    });
    const stream = new MessageStream();
    socket.on('drain', () => socket.resume());
    socket.on('data', (bytes) => {
      idle.cancel();
      idle = startIdleTimer();
      for (const message of stream.push(bytes)) this.#answerOverTcp(socket, client, message);
    });
  }

  #answerOverTcp(socket: Socket, client: string, message: Buffer): void {
    const isTaken = this.#answer(message, 'tcp', client, (reply) => {
      if (socket.destroyed) return;
      // A client that sends queries and never reads would fill the agent's memory with replies.
      if (!socket.write(MessageStream.frame(reply))) socket.pause();
      if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
    });
    if (!isTaken) socket.destroy();
  }

  /**
   * The kernel accepts packets for this address from the LAN as well, if a machine there sends them to this host. They
   * must get no reply: an open resolver serves attacks, and reveals the cluster's Services.
   */
  #isAllowed(address: string): boolean {
    if (this.#deps.isLocalClient(address)) return true;
    if (!this.#hasRejected) {
      const hint =
        'only Pods on bridges of the container engine, and the host itself, may use the cluster DNS';
      this.#deps.log.warn({ client: address, hint }, 'a DNS query from another network was rejected');
    }
    this.#hasRejected = true;
    return false;
  }

  /** Returns false if the query is over a limit. */
  #answer(message: Buffer, transport: 'udp' | 'tcp', client: string, send: (reply: Buffer) => void): boolean {
    this.#received += 1;
    if (!this.#queries.add(client)) return false;
    const answered: Promise<void> = this.#deps.handler
      .handle(message, transport)
      .then((reply) => {
        if (reply) send(reply);
      })
      .catch((error: unknown) => this.#logFailure(error))
      .finally(() => {
        this.#inProgress.delete(answered);
        this.#queries.remove(client);
      });
    this.#inProgress.add(answered);
    return true;
  }

  #logFailure(error: unknown): void {
    const now = this.#deps.clock.monotonic();
    if (now - this.#failureLoggedAt < LOG_INTERVAL_MS) return;
    this.#failureLoggedAt = now;
    this.#deps.log.error({ err: error }, 'a DNS query failed');
  }
}

/** Counts per client and in total. */
class LimitedCount {
  readonly #limit: number;
  readonly #limitPerClient: number;
  readonly #counts = new Map<string, number>();
  #total = 0;

  constructor(limit: number, limitPerClient: number) {
    this.#limit = limit;
    this.#limitPerClient = limitPerClient;
  }

  /** Returns false, and does not count, over a limit. */
  add(client: string): boolean {
    const count = this.#counts.get(client) ?? 0;
    if (this.#total >= this.#limit || count >= this.#limitPerClient) return false;
    this.#counts.set(client, count + 1);
    this.#total++;
    return true;
  }

  remove(client: string): void {
    const count = this.#counts.get(client) ?? 0;
    if (count <= 1) this.#counts.delete(client);
    else this.#counts.set(client, count - 1);
    this.#total--;
  }
}
