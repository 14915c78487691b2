/** Serves the agent's metrics on this host: `/metrics` for Prometheus, and `/healthz` for liveness checks. */
import { lstatSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';

/** Address to listen at. */
type MetricsAddress = { host: string; port: number } | { path: string };

/** Parses `off`, `HOST:PORT` or the path of a Unix socket. Throws an Error that names the expected format. */
export function parseMetricsAddress(text: string): MetricsAddress | undefined {
  if (text === 'off') return undefined;
  if (text.startsWith('/')) return { path: text };
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  const [, six, four, port] = match ?? [];
  const host = six ?? four;
  if (host === undefined || Number(port) > 65_535)
    throw new Error('must be off, HOST:PORT or the path of a Unix socket');
  return { host, port: Number(port) };
}

export class AgentMetricsServer {
  readonly #address: MetricsAddress;
  readonly #server: Server;

  /** `text` returns the content of `/metrics`. */
  constructor(address: MetricsAddress, text: () => string) {
    this.#address = address;
    this.#server = createServer((request, response) => {
      const page = { '/metrics': text, '/healthz': () => 'ok' }[request.url ?? ''];
      const isRead = request.method === 'GET' && page !== undefined;
      response.writeHead(isRead ? 200 : 404, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
      response.end(isRead ? page() : 'not found\n');
    });
  }

  /** Returns the port, or 0 for a Unix socket. Throws `ExitError` when it cannot listen. */
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

/**
 * Removes the socket of an agent that was killed. The lock of the data directory excludes that it still runs. Never
 * removes anything but a socket.
 */
function removeLeftover(path: string): void {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (!there) return;
  if (!there.isSocket())
    throw cannotServe(path, 'a file that is not a socket exists; remove it, or choose another path');
  rmSync(path);
}

/** Runs `make` with a umask for this user only: a later chmod would come too late. */
function privately(make: () => void): void {
  const before = process.umask(0o177);
  try {
    make();
  } finally {
    process.umask(before);
  }
}
