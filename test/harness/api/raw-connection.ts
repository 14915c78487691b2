/** A TLS connection to a test server, for bytes that no HTTP client would send. */
import { connect, type TLSSocket } from 'node:tls';
import type { TestApi } from './api-fixture.js';

interface RawConnection {
  readonly socket: TLSSocket;
  /** Resolves with all received data once the server has closed the connection. */
  closed: Promise<string>;
}

/** Connects and sends `text`. */
export function rawConnection(api: Pick<TestApi, 'port' | 'pki'>, text: string): Promise<RawConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: '127.0.0.1',
      port: api.port,
      ca: api.pki.ca.cert,
      servername: 'localhost',
    });
    const received: Buffer[] = [];
    const closed = new Promise<string>((ended) => {
      socket.on('close', () => ended(Buffer.concat(received).toString('utf8')));
    });
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.on('error', (error) => {
      if (socket.connecting) reject(error);
    });
    socket.on('secureConnect', () => {
      socket.write(text);
      resolve({ socket, closed });
    });
  });
}
