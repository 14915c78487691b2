/** A host's connection to the coordinator: a TCP proxy in this process that can delay, stall or reset it. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class LinkProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Resolves when the stall is over. */
  #stall: { over: Promise<void>; end: () => void } | undefined;
  #delayMs = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Listens on an address of this machine and forwards to the coordinator's port. */
  static async open(address: string, port: number): Promise<LinkProxy> {
    const server = createServer();
    const wire = new LinkProxy(server);
    server.on('connection', (near) => wire.#join(near, connect({ host: '127.0.0.1', port })));
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    return wire;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Delays what is sent from now on, in each direction. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Stops all forwarding without closing the connections. */
  stall(): void {
    if (this.#stall) return;
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#stall = { over, end };
  }

  resume(): void {
    this.#stall?.end();
    this.#stall = undefined;
  }

  /** Closes all connections, visibly for both ends. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  close(): void {
    this.resume();
    this.#server.close();
    this.reset();
  }

  #join(near: Socket, far: Socket): void {
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    void this.#carry(near, far);
    void this.#carry(far, near);
  }

  /** Forwards in order: each chunk leaves after its delay and after the chunks before it. */
  async #carry(from: Socket, to: Socket): Promise<void> {
    let last: Promise<void> = Promise.resolve();
    try {
      for await (const bytes of from) {
        const due = performance.now() + this.#delayMs;
        last = last.then(() => this.#deliver(bytes as Buffer, to, due));
      }
      await last;
      to.end();
    } catch {
      // The connection was reset.
      to.destroy();
    }
  }

  async #deliver(bytes: Buffer, to: Socket, due: number): Promise<void> {
    const waitMs = due - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    while (this.#stall) await this.#stall.over;
    if (!to.destroyed) to.write(bytes);
  }
}
