/** Ports of loopback for programs that listen on the same port at every start. */
import { createServer } from 'node:net';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { LOOPBACK } from './cluster-layout.js';

const LAST_PORT = 32_000;

/** Returns `count` free ports from `first` on, in ascending order. Throws `ExitError` if there are not enough. */
export async function freePortsFrom(first: number, count: number): Promise<number[]> {
  const free: number[] = [];
  for (let port = first; free.length < count; port += 1) {
    if (port > LAST_PORT) {
      const wanted = `${count} free ports from ${first} to ${LAST_PORT}`;
      throw new ExitError(EXIT_CODES.environment, `There are not ${wanted} on ${LOOPBACK}.`);
    }
    if (await isFree(port)) free.push(port);
  }
  return free;
}

export function isFree(port: number, host = LOOPBACK): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host }, () => server.close(() => resolve(true)));
  });
}
