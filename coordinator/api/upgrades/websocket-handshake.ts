/**
 * Validates WebSocket handshakes. The ws library responds to invalid ones itself, without an entry in the request log.
 */
import type { IncomingMessage } from 'node:http';

/** 16 bytes in base64 (RFC 6455, 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
/** The versions that the ws library supports. */
const VERSIONS = ['13', '8'];
/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

export function protocolsOf({ headers }: Pick<IncomingMessage, 'headers'>): string[] {
  return (headers['sec-websocket-protocol'] ?? '').split(/\s*,\s*/);
}

/** Returns the error in the handshake, other than in its protocol names; undefined if it is valid. */
export function handshakeFault({
  method,
  headers,
}: Pick<IncomingMessage, 'method' | 'headers'>): string | undefined {
  if (method !== 'GET') return 'a WebSocket handshake must use GET';
  if (!KEY.test(headers['sec-websocket-key'] ?? '')) return 'Sec-WebSocket-Key must be 16 bytes in base64';
  if (!VERSIONS.includes(headers['sec-websocket-version'] ?? ''))
    return 'Sec-WebSocket-Version must be 13 or 8';
  return undefined;
}

/** Returns the error in the protocol names; undefined if each is a token and none occurs twice. */
export function protocolsFault(request: Pick<IncomingMessage, 'headers'>): string | undefined {
  const offered = protocolsOf(request);
  const isList = offered.every((name) => TOKEN.test(name)) && new Set(offered).size === offered.length;
  return isList ? undefined : 'Sec-WebSocket-Protocol must be a list of different protocol names';
}
