/** Whether a request can become a WebSocket at all: the library answers one that cannot by itself, past our logs. */
import type { IncomingMessage } from 'node:http';

/** 16 bytes in base64 (RFC 6455, 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
/** The two that the library speaks. */
const VERSIONS = ['13', '8'];
/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The protocols that a client offers, in its order. */
export function protocolsOf({ headers }: Pick<IncomingMessage, 'headers'>): string[] {
  return (headers['sec-websocket-protocol'] ?? '').split(/\s*,\s*/);
}

/** What is wrong with the handshake, but for the names of its protocols; undefined: nothing. */
export function handshakeFault({
  method,
  headers,
}: Pick<IncomingMessage, 'method' | 'headers'>): string | undefined {
  if (method !== 'GET') return 'a WebSocket is asked for with GET';
  if (!KEY.test(headers['sec-websocket-key'] ?? '')) return 'Sec-WebSocket-Key must be 16 bytes in base64';
  if (!VERSIONS.includes(headers['sec-websocket-version'] ?? ''))
    return 'Sec-WebSocket-Version must be 13 or 8';
  return undefined;
}

/** The same for the names: each a token, none twice. */
export function protocolsFault(request: Pick<IncomingMessage, 'headers'>): string | undefined {
  const offered = protocolsOf(request);
  const isList = offered.every((name) => TOKEN.test(name)) && new Set(offered).size === offered.length;
  return isList ? undefined : 'Sec-WebSocket-Protocol must name protocols, each once';
}
