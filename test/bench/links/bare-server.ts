/**
 * Floor of accepting links: TLS with a client certificate request, and a WebSocket. Arguments: its folder, the CA of
 * the hosts.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { loadPki } from '../../../coordinator/pki/load-pki.js';

const [folder = '', authority = ''] = process.argv.slice(2);
const { serving, ca } = await loadPki(join(folder, 'pki'), ['127.0.0.1'], Date.now());
const server = createServer({
  ...{ key: serving.key, cert: serving.cert, ca: readFileSync(authority) },
  ...{ requestCert: true, rejectUnauthorized: true },
});
const sockets = new WebSocketServer({ noServer: true, clientTracking: false, perMessageDeflate: false });
server.on('upgrade', (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (opened) => opened.on('error', () => undefined));
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port, ca: ca.cert });
});
