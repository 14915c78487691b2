/** A bare WebSocket server over TLS for agents that only connect. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { loadPki } from '../../../coordinator/pki/load-pki.js';

interface TlsServer {
  port: number;
  /** PEM file of the CA that signed its certificate. */
  caFile: string;
  /** Resolves when the next WebSocket opens. */
  nextConnection(): Promise<unknown>;
}

/** Stops the server after `work`. */
export async function withTlsServer<T>(work: (server: TlsServer) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'enbench-'));
  const { serving } = await loadPki(folder, ['127.0.0.1'], Date.now());
  const server = createServer({ key: serving.key, cert: serving.cert });
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on('connection', (socket) => socket.on('error', () => socket.terminate()));
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const nextConnection = () => once(sockets, 'connection');
    return await work({ port, caFile: join(folder, 'ca.crt'), nextConnection });
  } finally {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
