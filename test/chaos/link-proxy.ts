/** A host's way to the coordinator: TCP carried by this process, which can hold it back, stop it without a word, or break it. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class LinkProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Resolves when a stall is over. */
  #stall: { over: Promise<void>; end: () => void } | undefined;
  #delayMs = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Listens at an address of this machine, and carries what comes to the coordinator's port. */
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

  /** What is sent from now on arrives so much later, each way. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Nothing arrives any more, and nobody is told. */
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

  /** Ends all connections; both ends see it. */
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

  /** In order: each piece leaves when its time has come and those before it have left. */
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
      // Broken.
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
