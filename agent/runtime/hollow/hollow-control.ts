/**
 * The control channel of a hollow agent: a unix socket that takes one command a line, as JSON (see `HollowEngineCommand`),
 * and answers one line each: `{"containers": N}` (how many it means now) or `{"error": "…"}`.
 */
import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { parseHollowEngineCommand } from './hollow-command.js';
import type { HollowEngine } from './hollow-engine.js';

/** Listens at `path` (at most 107 bytes, the kernel's limit), in the place of a socket left by a killed process. */
export async function serveHollowControl(path: string, engine: HollowEngine): Promise<Server> {
  rmSync(path, { force: true });
  const server = createServer((socket) => serve(socket, engine));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return server.unref();
}

function serve(socket: Socket, engine: HollowEngine): void {
  // A client that goes away has given its commands already; there is nobody to tell.
  socket.on('error', () => socket.destroy());
  createInterface({ input: socket }).on('line', (line) =>
    socket.write(`${JSON.stringify(answer(line, engine))}\n`),
  );
}

function answer(line: string, engine: HollowEngine): { containers: number } | { error: string } {
  try {
    return { containers: engine.command(parseHollowEngineCommand(line)) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
