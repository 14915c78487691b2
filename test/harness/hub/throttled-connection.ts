/** A wire between two ends on this machine that carries only so much. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { pause } from '../basics/wait-until.js';

/** What is carried at once lasts so long, for a timer does not wait for less. */
const PIECE_SECONDS = 0.004;

export interface ThrottledProxy {
  port: number;
  /** Both ends see the connections break. */
  cut(): void;
  /** Nobody gets through, until `up` has resolved. */
  down(): void;
  up(): Promise<void>;
  close(): void;
}

/** Listens, and carries what comes to `port` and back, each way `bytesPerSecond`. What does not fit waits with its sender. */
export async function throttledProxy(port: number, bytesPerSecond: number): Promise<ThrottledProxy> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((near) => {
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
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const { port: near } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const down = () => {
    server.close();
    cut();
  };
  return { port: near, cut, down, up: () => listen(near), close: down };
}

async function carry(from: Socket, to: Socket, bytesPerSecond: number): Promise<void> {
  const pieceBytes = Math.ceil(bytesPerSecond * PIECE_SECONDS);
  let free = performance.now();
  try {
    for await (const bytes of from) {
      // Node reads 64 KiB at once: carried whole, the first byte of them would come as late as the last.
      for (const piece of piecesOf(bytes as Buffer, pieceBytes)) {
        free = Math.max(free, performance.now()) + (piece.length / bytesPerSecond) * 1000;
        if (free - performance.now() > 1) await pause(free - performance.now());
        to.write(piece);
      }
    }
    to.end();
  } catch {
    // Cut.
    to.destroy();
  }
}

function* piecesOf(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
