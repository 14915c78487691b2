/**
 * Program of a link thread. It listens on the coordinator's port, terminates the links of agents, and passes all other
 * connections on to the main thread's API without decrypting them.
 */
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { LINK_PROTOCOL } from '../../shared/link/link-features.js';
import { LINK_PATH } from '../../shared/link/messages/link-messages.js';
import { systemClock } from '../../shared/process/time/clock.js';
import { LISTEN_BACKLOG, secureOptions, serverOptions } from '../api/http/tls-options.js';
import { queueHandshakes } from '../api/limits/handshake-queue.js';
import type { Arrival } from '../api/limits/pre-handshake-sockets.js';
import { refuseBrokenRequest } from '../api/limits/refused-socket.js';
import { encodeProxyHeader } from '../cluster/front-door/proxy-header.js';
import { SplicedConnections } from '../cluster/front-door/spliced-connections.js';
import { offeredProtocols } from './client-hello.js';
import { LinkCounters } from './link-counters.js';
import { MessageBatch, messagesOf } from './message-batch.js';
import { RefusalReports } from './refusal-reports.js';
import { ThreadLinks } from './thread-links.js';
import type { FromThread, ThreadSettings, ToThread } from './thread-protocol.js';

const API_HOST = '127.0.0.1';
const clock = systemClock;
const settings = workerData as ThreadSettings;

function post(message: FromThread): void {
  if (message instanceof Uint8Array) parentPort?.postMessage(message, [message.buffer as ArrayBuffer]);
  else parentPort?.postMessage(message);
}

const refusals = new RefusalReports(clock, (report) => post({ kind: 'refused', report }));
const onRefused = refusals.add.bind(refusals);

/** Connections that are no links. */
class ApiConnections {
  readonly #spliced = new SplicedConnections(
    clock,
    {
      onUnreachable: ({ socket, arrival: { address } }) => {
        socket.destroy();
        onRefused({ remoteAddress: address, code: 503, reason: 'the API does not accept connections' });
      },
      onTooMany: ({ arrival: { address } }) =>
        onRefused({ remoteAddress: address, code: 429, reason: 'too many forwarded connections' }),
    },
    settings.threads,
  );
  #sequence = 0;

  add(socket: Socket, arrival: Arrival): void {
    const { remoteAddress, remotePort, localAddress, localPort } = socket;
    if (!remoteAddress || remotePort === undefined || !localAddress || localPort === undefined) {
      // The client has reset the connection, so the kernel no longer knows its addresses.
      socket.destroy();
      return;
    }
    const client = { address: remoteAddress, port: remotePort };
    const server = { address: localAddress, port: localPort };
    const { apiPort, headerKey, doorId } = settings;
    const header = () => {
      this.#sequence += 1;
      return encodeProxyHeader({ client, server, doorId, sequence: this.#sequence, term: 0 }, headerKey);
    };
    this.#spliced.add(
      { socket, arrival, since: clock.monotonic() },
      { host: API_HOST, port: apiPort, header },
    );
  }
}

/** Returns the first record, which the socket returns again when it is read. */
function firstRecordOf(socket: Socket): Buffer {
  const bytes: unknown = socket.read();
  if (!Buffer.isBuffer(bytes)) return Buffer.alloc(0);
  socket.unshift(bytes);
  return bytes;
}

const api = new ApiConnections();
const counters = new LinkCounters(settings.counters);
const links = new ThreadLinks(clock, counters, new MessageBatch(clock, post), onRefused);
const server = createServer({
  ...serverOptions(settings.tls, settings.limits),
  requestTimeout: settings.limits.requestTimeoutMs,
  ALPNCallback: () => LINK_PROTOCOL,
});
const handshakes = queueHandshakes(server, {
  clock,
  threads: settings.threads,
  onRefused,
  divert: (socket, arrival) => {
    if (offeredProtocols(firstRecordOf(socket)).includes(LINK_PROTOCOL)) return false;
    api.add(socket, arrival);
    return true;
  },
});
server.on('request', (_request, response) => response.writeHead(404, { connection: 'close' }).end());
server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
  const { remoteAddress = '' } = socket as Socket;
  const refused = refuseBrokenRequest(error.code ?? '', socket);
  if (refused) onRefused({ remoteAddress, ...refused });
});
server.on('upgrade', (request, socket, head) => {
  if ((request.url ?? '').split('?', 1)[0] === LINK_PATH) links.upgrade(request, socket as TLSSocket, head);
  else socket.destroy();
});
parentPort?.on('message', (message: ToThread) => {
  if (message instanceof Uint8Array) for (const order of messagesOf(message)) links.received(order);
  else if (message.kind === 'renew') server.setSecureContext(secureOptions(message.tls));
  else {
    server.close(() => parentPort?.close());
    handshakes.close();
    refusals.flush();
  }
});
server.on('error', (error) => {
  // Ends the thread. Once it listens, an error concerns one connection, for example above the limit of open files.
  if (!server.listening) throw error;
  refusals.acceptFailed(error.message);
});
const { host, port, threads } = settings;
server.listen({ host, port, backlog: LISTEN_BACKLOG, reusePort: threads > 1 }, () =>
  post({ kind: 'listening' }),
);
