/** Passes requests to Node's HTTP parser through a stream, which buffers them while the parser is paused. */
import type { Server, TLSSocket } from 'node:tls';

/**
 * Without this, valid requests are refused with 400 (`HPE_PAUSED`; Node 20, 22 and 24). By default the parser reads from the TLS
 * handle directly. If the answer before has not been flushed when the head of a request arrives, the server pauses the parser.
 * TLS then still delivers the records that it received together with the head, such as the body, and the paused parser
 * rejects them. A larger high water mark only hides this for answers below it.
 *
 * Node detaches the parser from the handle permanently when a `data` listener is added (`unconsume` in lib/_http_server.js).
 * Remove the listener at once: if it stayed, it would discard data of upgraded connections.
 */
export function bufferParserInput(server: Server): void {
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.on('data', ignore);
    socket.off('data', ignore);
  });
}

function ignore(): void {
  // The HTTP server's own listener reads the data.
}
