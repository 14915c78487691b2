/** Serves the agent's own numbers on this host alone: `/metrics` for Prometheus, `/healthz` for whoever looks whether it lives. */
import { lstatSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';

/** Where to listen. */
type MetricsAddress = { host: string; port: number } | { path: string };

/** `off`, `HOST:PORT` or the path of a unix socket. Throws an Error that says what is expected. */
export function parseMetricsAddress(text: string): MetricsAddress | undefined {
  if (text === 'off') return undefined;
  if (text.startsWith('/')) return { path: text };
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const [, six, four, port] = match ?? [];
  const host = six ?? four;
  if (host === undefined || Number(port) > 65_535)
    throw new Error('must be off, HOST:PORT or the path of a socket');
  return { host, port: Number(port) };
}

export class AgentMetricsServer {
  readonly #address: MetricsAddress;
  readonly #server: Server;

  /** `text` makes the page of `/metrics`. */
  constructor(address: MetricsAddress, text: () => string) {
    this.#address = address;
    this.#server = createServer((request, response) => {
      const page = { '/metrics': text, '/healthz': () => 'ok' }[request.url ?? ''];
      const isRead = request.method === 'GET' && page !== undefined;
      response.writeHead(isRead ? 200 : 404, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
      response.end(isRead ? page() : 'not found\n');
    });
  }

  /** Answers the port; 0 of a socket. Throws `ExitError` when the address cannot be had. */
  async start(): Promise<number> {
    const address = this.#address;
    if ('path' in address) removeLeftover(address.path);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) => {
        const where = 'path' in address ? address.path : `${address.host}:${address.port}`;
        reject(cannotServe(where, error.message));
      });
      if ('path' in address) privately(() => this.#server.listen(address, resolve));
      else this.#server.listen(address, resolve);
    });
    const bound = this.#server.address();
    return typeof bound === 'object' && bound ? bound.port : 0;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

function cannotServe(where: string, why: string): ExitError {
  return new ExitError(
    EXIT_CODES.environment,
    `--metrics-address: cannot serve metrics at ${where}: ${why}.`,
  );
}

/** A predecessor that was killed left its socket: the data directory's lock says that none lives. Anything else is not ours to remove. */
function removeLeftover(path: string): void {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (!there) return;
  if (!there.isSocket())
    throw cannotServe(path, 'what is there is no socket; remove it, or name another path');
  rmSync(path);
}

/** What `make` makes before it returns, this user alone can open: there is no moment at which others could. */
function privately(make: () => void): void {
  const before = process.umask(0o177);
  try {
    make();
  } finally {
    process.umask(before);
  }
}
