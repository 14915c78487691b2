/** Connections that no request comes out of: broken, too slow, or an upgrade that we do not serve. */
import type { Duplex } from 'node:stream';
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { rawStatusResponse } from '../http/status-response.js';

/** All headers of a request together. */
export const MAX_HEADER_BYTES = 32 * 1024;

/**
 * Answers what Node gave up on, by its error code, in a form that a client can read, and closes the connection. Answers the
 * status and why; undefined where there was nobody to be told.
 */
export function refuseBrokenRequest(
  code: string,
  socket: Duplex,
): { code: number; reason: string } | undefined {
  const refused = refusalOf(code);
  // Reset, or TLS was never set up: an answer would wait for a handshake that does not come, and hold the socket.
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
 * The same for a refusal of the host itself, as the kubelet words it: kubectl prints a plain text behind
 * "unable to upgrade connection: ".
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

/** Sends the error as a whole HTTP answer and closes. `code` as in `rawStatusAnswer`. */
export function refuseSocket(socket: Duplex, error: ApiError, code?: number): void {
  socket.on('error', () => socket.destroy());
  if (socket.writable) socket.end(rawStatusResponse(error, code), () => socket.destroy());
  else socket.destroy();
}
