/** An HTTP forward proxy: CONNECT with credentials, and names that only the proxy resolves. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { TlsOptions } from 'node:tls';

interface ForwardProxyOptions {
  /** `USER:PASSWORD`; absent: the proxy requires none. */
  credentials?: string;
  /** Addresses of names that nobody else resolves. Other names and addresses are refused with 403. */
  names: Readonly<Record<string, string>>;
  /** Address to listen on; absent: loopback. */
  address?: string;
  /** For a proxy that clients reach by `https://`. */
  tls?: Pick<TlsOptions, 'cert' | 'key'>;
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

  static async open(
    context: Pick<TestContext, 'after'>,
    options: ForwardProxyOptions,
  ): Promise<ForwardProxy> {
    const proxy = new ForwardProxy(options);
    await proxy.start();
    context.after(() => proxy.stop());
    return proxy;
  }

  get #address(): string {
    return this.#options.address ?? '127.0.0.1';
  }

  /** With the credentials. */
  get url(): string {
    const { credentials } = this.#options;
    const pair = credentials?.split(':').map(encodeURIComponent).join(':');
    return `${this.#options.tls ? 'https' : 'http'}://${pair ? `${pair}@` : ''}${this.#address}:${this.#port}`;
  }

  /** Refuses tunnels to this name from now on. */
  forbid(name: string): void {
    this.#forbidden.add(name);
  }

  /** Listens on the same port as before. */
  async start(): Promise<void> {
    const { tls } = this.#options;
    const refuse = (_request: IncomingMessage, response: ServerResponse) => response.writeHead(405).end();
    const server = tls ? createTlsServer(tls, refuse) : createServer(refuse);
    server.on('connect', (request: IncomingMessage, near: Socket) => this.#tunnel(request, near));
    await new Promise<void>((done) => server.listen(this.#port, this.#address, done));
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
