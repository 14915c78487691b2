/** A TCP proxy on this machine with limited bandwidth. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { pause } from '../basics/wait-until.js';

/** Duration of one piece. Timers cannot wait for less. */
const PIECE_SECONDS = 0.004;

export interface ThrottledProxy {
  port: number;
  /** Breaks all connections at both ends. */
  cut(): void;
  /** Blocks all connections until `up` has resolved. */
  down(): void;
  up(): Promise<void>;
  close(): void;
}

/** Listens and forwards to `port`, each way with `bytesPerSecond`. Excess data waits at its sender. */
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
      // Node reads 64 KiB at once. Forwarded as a whole, its first byte would arrive as late as its last.
      for (const piece of piecesOf(bytes as Buffer, pieceBytes)) {
        free = Math.max(free, performance.now()) + (piece.length / bytesPerSecond) * 1000;
        if (free - performance.now() > 1) await pause(free - performance.now());
        to.write(piece);
      }
    }
    to.end();
  } catch {
    // The connection was cut.
    to.destroy();
  }
}

function* piecesOf(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
