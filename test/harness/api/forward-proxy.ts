/** An HTTP forward proxy: CONNECT with credentials, and names that only the proxy resolves. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

interface ForwardProxyOptions {
  /** `USER:PASSWORD`; absent: the proxy requires none. */
  credentials?: string;
  /** Addresses of names that nobody else resolves. Other names and addresses are refused with 403. */
  names: Readonly<Record<string, string>>;
}

export class ForwardProxy {
  /** Targets of all CONNECT requests that were accepted. */
  readonly targets: string[] = [];
  /** Statuses of all requests that were refused. */
  readonly refusals: number[] = [];
  readonly #options: ForwardProxyOptions;
  readonly #forbidden = new Set<string>();
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  private constructor(options: ForwardProxyOptions) {
    this.#options = options;
  }

  static async open(context: TestContext, options: ForwardProxyOptions): Promise<ForwardProxy> {
    const proxy = new ForwardProxy(options);
    await proxy.start();
    context.after(() => proxy.stop());
    return proxy;
  }

  /** With the credentials. */
  get url(): string {
    const { credentials } = this.#options;
    const pair = credentials?.split(':').map(encodeURIComponent).join(':');
    return `http://${pair ? `${pair}@` : ''}127.0.0.1:${this.#port}`;
  }

  /** Refuses tunnels to this name from now on. */
  forbid(name: string): void {
    this.#forbidden.add(name);
  }

  /** Listens on the same port as before. */
  async start(): Promise<void> {
    const server = createServer((_request, response) => response.writeHead(405).end());
    server.on('connect', (request: IncomingMessage, near: Socket) => this.#tunnel(request, near));
    await new Promise<void>((done) => server.listen(this.#port, '127.0.0.1', done));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Cuts all tunnels and refuses connections. */
  stop(): void {
    this.#server?.close();
    this.cutTunnels();
  }

  /** Like a proxy that ends idle tunnels. */
  cutTunnels(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #tunnel({ url = '', headers }: IncomingMessage, near: Socket): void {
    near.on('error', () => near.destroy());
    const [, name = '', port] = /^(.*):(\d+)$/.exec(url) ?? [];
    const address = this.#forbidden.has(name) ? undefined : this.#options.names[name];
    const status = this.#refusal(headers['proxy-authorization'], address);
    if (status !== undefined) {
      this.refusals.push(status);
      near.end(
        `HTTP/1.1 ${status} Refused\r\nproxy-authenticate: Basic realm="p"\r\ncontent-length: 0\r\n\r\n`,
      );
      return;
    }
    const far = connect(Number(port), address);
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#sockets.delete(socket));
    }
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    far.once('connect', () => {
      this.targets.push(url);
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      near.pipe(far).pipe(near);
    });
  }

  #refusal(given: string | undefined, address: string | undefined): number | undefined {
    const { credentials } = this.#options;
    const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
    if (expected && given !== expected) return 407;
    return address === undefined ? 403 : undefined;
  }
}
