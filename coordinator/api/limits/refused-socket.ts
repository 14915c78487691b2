/** Rejects connections without a valid request: malformed or slow requests, and unsupported upgrades. */
import type { Duplex } from 'node:stream';
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { rawStatusResponse } from '../http/status-response.js';

/** Limit for all headers of a request. */
export const MAX_HEADER_BYTES = 32 * 1024;

/**
 * Responds to a connection that Node's HTTP parser rejected, by its error code, and closes it. Returns the status and
 * reason, or undefined if no response could be sent.
 */
export function refuseBrokenRequest(
  code: string,
  socket: Duplex,
): { code: number; reason: string } | undefined {
  const refused = refusalOf(code);
  // The connection was reset or has no TLS. A response would wait for a handshake that never comes, and would keep the
  // socket open.
  if (!refused) socket.destroy();
  else refuseSocket(socket, refused.error, refused.status);
  return refused && { code: refused.status, reason: code };
}

function refusalOf(code: string): { status: number; error: ApiError } | undefined {
  switch (code) {
    case 'HPE_INVALID_EOF_STATE':
      return undefined;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, error: new ApiError('Timeout', 'the request took too long to arrive') };
    case 'HPE_HEADER_OVERFLOW': {
      const error = badRequest(`the headers of the request exceed ${MAX_HEADER_BYTES} bytes`);
      return { status: 431, error };
    }
    default:
      return code.startsWith('HPE_')
        ? { status: 400, error: badRequest('the request is not HTTP') }
        : undefined;
  }
}

/**
 * Rejects an upgrade with the host's own message as plain text, like the kubelet. kubectl prints it after "unable to
 * upgrade connection: ".
 */
export function refuseSocketInText(socket: Duplex, code: number, text: string): void {
  socket.on('error', () => socket.destroy());
  const head = ['HTTP/1.1', code, 'Refused'].join(' ');
  const length = Buffer.byteLength(text);
  const lines = [
    head,
    'Content-Type: text/plain',
    `Content-Length: ${length}`,
    'Connection: close',
    '',
    text,
  ];
  if (socket.writable) socket.end(lines.join('\r\n'), () => socket.destroy());
  else socket.destroy();
}

/** Sends the error as a complete HTTP response and closes the connection. `code` as in `rawStatusResponse`. */
export function refuseSocket(socket: Duplex, error: ApiError, code?: number): void {
  socket.on('error', () => socket.destroy());
  if (socket.writable) socket.end(rawStatusResponse(error, code), () => socket.destroy());
  else socket.destroy();
}
