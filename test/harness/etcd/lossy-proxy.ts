/** A TCP proxy on loopback that loses the answers of its target on request. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class LossyProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #losesAnswers = false;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => {
      const target = connect(targetPort, '127.0.0.1');
      for (const socket of [client, target]) this.#add(socket);
      client.pipe(target);
      target.on('data', (data) => {
        if (!this.#losesAnswers) client.write(data);
      });
      for (const [one, other] of [
        [client, target],
        [target, client],
      ] as const)
        one.on('close', () => other.destroy());
    });
  }

  static async start(targetPort: number): Promise<LossyProxy> {
    const proxy = new LossyProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Loses all answers from now on. Requests still arrive. */
  loseAnswers(): void {
    this.#losesAnswers = true;
  }

  /** Passes answers on again, on new connections: the old ones lack bytes. */
  restore(): void {
    this.#losesAnswers = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    // A reset by the other side only ends the connection.
    socket.on('error', () => socket.destroy());
  }
}
