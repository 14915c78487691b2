/** Invalid connections get a response where one can arrive, and are always closed. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { refuseBrokenRequest } from '../../../coordinator/api/limits/refused-socket.js';

for (const code of ['ERR_TLS_HANDSHAKE_TIMEOUT', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ECONNRESET', 'EPROTO']) {
  test(`${code}: no answer can arrive, so the socket is closed at once`, () => {
    const socket = new PassThrough();
    refuseBrokenRequest(code, socket);
    assert.equal(socket.destroyed, true);
    assert.equal(socket.read(), null);
  });
}

for (const [code, line] of [
  ['HPE_INVALID_METHOD', 'HTTP/1.1 400 '],
  ['HPE_HEADER_OVERFLOW', 'HTTP/1.1 431 '],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'HTTP/1.1 408 '],
] as const) {
  test(`${code}: the client is answered ${line.trim()}`, () => {
    const socket = new PassThrough();
    refuseBrokenRequest(code, socket);
    assert.ok(String(socket.read()).startsWith(line));
  });
}
