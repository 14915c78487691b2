/** The protocols that a TLS client offers are read before the handshake, and any bytes may arrive instead of a ClientHello. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { type ConnectionOptions, connect } from 'node:tls';
import { offeredProtocols } from '../../../coordinator/link-threads/client-hello.js';

/** Returns the first record that Node's TLS client sends. */
async function clientHello(options: ConnectionOptions): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, ...options });
  client.on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  client.destroy();
  server.close();
  return bytes;
}

test('the offered protocols are read in order', async () => {
  const protocols = ['everynode-link', 'http/1.1'];
  assert.deepEqual(offeredProtocols(await clientHello({ ALPNProtocols: protocols })), protocols);
  assert.deepEqual(
    offeredProtocols(await clientHello({ ALPNProtocols: protocols, maxVersion: 'TLSv1.2' })),
    protocols,
  );
});

test('a client without the extension offers none', async () => {
  assert.deepEqual(offeredProtocols(await clientHello({})), []);
});

test('truncated and changed bytes offer at most wrong names', async () => {
  const hello = await clientHello({ ALPNProtocols: ['everynode-link'], servername: 'coordinator' });
  for (let length = 0; length < hello.length; length += 1)
    assert.ok(Array.isArray(offeredProtocols(hello.subarray(0, length))));
  for (let at = 0; at < hello.length; at += 1) {
    const changed = Buffer.from(hello);
    changed[at] = 0xff;
    assert.ok(offeredProtocols(changed).length < hello.length);
  }
  assert.deepEqual(offeredProtocols(Buffer.from('GET / HTTP/1.1\r\n\r\n')), []);
});
