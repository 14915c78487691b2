/** TLS protocol negotiation (ALPN): HTTP/1.1, whatever else a client offers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';

let api: TestApi;
before(async () => {
  api = await startTestApi();
});
after(() => api.stop());

/**
 * Returns the protocol agreed with a client that offers these, or false if none was offered. Rejects when the handshake
 * fails.
 */
function agreed(offered: string[]): Promise<string | false | null> {
  return new Promise((resolve, reject) => {
    const options = offered.length > 0 ? { ALPNProtocols: offered } : {};
    const socket = connect({ host: 'localhost', port: api.port, ca: api.pki.ca.cert, ...options }, () => {
      resolve(socket.alpnProtocol);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

test('clients that offer HTTP/2 as well, as kubectl does, get HTTP/1.1', async () => {
  assert.equal(await agreed(['h2', 'http/1.1']), 'http/1.1');
});

test('clients without ALPN, such as agents, are accepted', async () => {
  assert.equal(await agreed([]), false);
});

test('clients with HTTP/2 only are rejected with a TLS alert', async () => {
  await assert.rejects(agreed(['h2']), { code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL' });
});
