/** A wire between two ends on this machine that carries only so much. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { pause } from './until.js';

/** What is carried at once lasts so long, for a timer does not wait for less. */
const PIECE_SECONDS = 0.004;

export interface SlowWire {
  port: number;
  /** Both ends see the connections break. */
  cut(): void;
  close(): void;
}

/** Listens, and carries what comes to `port` and back, each way `bytesPerSecond`. What does not fit waits with its sender. */
export async function slowWire(port: number, bytesPerSecond: number): Promise<SlowWire> {
  const sockets = new Set<Socket>();
  const highWaterMark = Math.ceil(bytesPerSecond * PIECE_SECONDS);
  const server: Server = createServer({ highWaterMark }, (near) => {
    const far = connect({ host: '127.0.0.1', port });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    void carry(near, far, bytesPerSecond);
    void carry(far, near, bytesPerSecond);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    close: () => {
      server.close();
      cut();
    },
  };
}

async function carry(from: Socket, to: Socket, bytesPerSecond: number): Promise<void> {
  let free = performance.now();
  try {
    for await (const bytes of from) {
      free = Math.max(free, performance.now()) + ((bytes as Buffer).length / bytesPerSecond) * 1000;
      if (free - performance.now() > 1) await pause(free - performance.now());
      to.write(bytes as Buffer);
    }
    to.end();
  } catch {
    // Cut.
    to.destroy();
  }
}
