/** Addresses of coordinators: one that forwards, one that never answers, and one that refuses. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { TlsOptions } from 'node:tls';

const LISTENER = `const server = require('node:net').createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));`;
/** The kernel queues one connection more than the backlog. */
const QUEUED = 2;

/** Returns the address of a machine that drops packets: a stopped listener whose queue of connections is full. */
export async function blackHole(context: TestContext): Promise<string> {
  const listener = spawn(process.execPath, ['-e', LISTENER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const sockets: Socket[] = [];
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    listener.kill('SIGKILL');
  });
  const [line] = (await once(listener.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  listener.kill('SIGSTOP');
  while (sockets.length < QUEUED) {
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.push(socket);
    await once(socket, 'connect');
  }
  return `https://127.0.0.1:${port}`;
}

/** Returns the address of a coordinator that is stopped: its kernel accepts connections, and nothing answers. */
export async function stoppedCoordinator(context: TestContext): Promise<string> {
  const listener = spawn(process.execPath, ['-e', LISTENER.replace('backlog: 1', 'backlog: 64')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  context.after(() => listener.kill('SIGKILL'));
  const [line] = (await once(listener.stdout, 'data')) as [Buffer];
  listener.kill('SIGSTOP');
  return `https://127.0.0.1:${Number(line.toString())}`;
}

/** A member that forwards every connection to the leader. */
export async function forwarder(context: TestContext, port: number) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ port, host: '127.0.0.1' });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  context.after(stop);
  return { address: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

/** A coordinator of the fleet that answers every request with 503. `requests` counts them. */
export async function refusingCoordinator(context: TestContext, tls: Pick<TlsOptions, 'cert' | 'key'>) {
  const seen = { requests: 0 };
  const server = createHttpsServer(tls);
  server.on('request', (_request, response) => {
    seen.requests += 1;
    response.writeHead(503).end('{"message":"no leader"}');
  });
  server.on('upgrade', (_request, socket) => {
    seen.requests += 1;
    socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  return { address: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
