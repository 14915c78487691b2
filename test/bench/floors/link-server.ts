/**
 * Floor of the coordinator: TLS, `ws`, a table of rows, bytes of Pods. It does only what every implementation must do.
 * Runs as a process and takes orders over IPC. Argument: its folder.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { loadPki } from '../../../coordinator/pki/load-pki.js';
import { FanOut } from './apply-floor.js';
import { PodList } from './pod-list-floor.js';
import { SqliteRows } from './sqlite-rows.js';
import { WatchFanOut } from './watch-floor.js';

/** `apply`: a frame to all agents and their responses. `watch`: a number of events to all watchers. */
export type FloorOrder =
  | { id: number; kind: 'count' }
  | { id: number; kind: 'apply' }
  | { id: number; kind: 'watch'; events: number };

export type FloorAnswer = { id: number; value: number } | { kind: 'ready'; port: number; ca: string };

const [folder = ''] = process.argv.slice(2);
const { serving } = await loadPki(join(folder, 'pki'), ['127.0.0.1'], Date.now());
const rows = new SqliteRows(join(folder, 'rows.db'));
const fanOut = new FanOut(rows);
const list = new PodList();
const watch = new WatchFanOut();

const server = createServer({ key: serving.key, cert: serving.cert, keepAliveTimeout: 65_000 });
const sockets = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  skipUTF8Validation: true,
});
server.on('upgrade', (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (opened) => fanOut.add(opened, socket));
});
server.on('request', (request, response) => {
  const url = new URL(request.url ?? '/', 'https://floor');
  if (url.searchParams.get('watch') === 'true') watch.add(response);
  else if (request.method === 'PATCH') void fanOut.one().then(() => response.end('{}'));
  else void list.send(Number(url.searchParams.get('count')), response);
});

function tell(answer: FloorAnswer): void {
  process.send?.(answer);
}

async function obey(order: FloorOrder): Promise<number> {
  switch (order.kind) {
    case 'count':
      return fanOut.size;
    case 'apply':
      await fanOut.all();
      return fanOut.size;
    case 'watch':
      return watch.send(order.events);
  }
}

process.on('message', (order: FloorOrder) => {
  void obey(order).then((value) => tell({ id: order.id, value }));
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  tell({ kind: 'ready', port, ca: readFileSync(join(folder, 'pki/ca.crt'), 'utf8') });
});
