/**
 * The control channel of a hollow agent: a Unix socket that takes one command a line, as JSON (`HollowEngineCommand`).
 * The response is one line each: `{"containers": N}`, the number of containers that it affects now, or `{"error":
 * "…"}`.
 */
import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { parseHollowEngineCommand } from './hollow-command.js';
import type { HollowEngine } from './hollow-engine.js';

/** Listens at `path` (at most 107 bytes, the kernel's limit). Replaces the socket of an agent that was killed. */
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
  // A client that disconnects has sent its commands already.
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
