/** Watches over WebSocket are compressed, with a small window and only so many at once. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { MAX_COMPRESSED, UpgradedSockets } from '../../../coordinator/api/upgrades/upgraded-sockets.js';
import { STREAM_PROTOCOL } from '../../../shared/kube/objects/stream-protocol.js';
import { untilPasses } from '../../harness/basics/wait-until.js';

const OFFER = 'permessage-deflate; client_max_window_bits';
/** As the hosts of a fleet: text that mostly repeats. */
const HOSTS = Array.from({ length: 400 }, (_, at) => ({
  metadata: { name: `till-${at}`, labels: { 'topology.kubernetes.io/zone': 'kiel', till: String(at) } },
  status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-11-27T14:00:00Z' }] },
}));

/** Returns a function that opens a watch with this offer of extensions. It resolves with both ends and the answer. */
async function opener(context: TestContext) {
  const sockets = new UpgradedSockets(60_000);
  const accepted: Duplex[] = [];
  const server = createServer();
  server.on('upgrade', (request, socket, head) => {
    void sockets.acceptStream({ request, socket, head }).then((stream) => accepted.push(stream));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const clients: Socket[] = [];
  context.after(() => {
    for (const client of clients) client.destroy();
    server.close();
  });
  return async (extensions: string) => {
    const { port } = server.address() as AddressInfo;
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol': STREAM_PROTOCOL,
      ...(extensions ? { 'sec-websocket-extensions': extensions } : {}),
    };
    const [response, client] = await new Promise<[IncomingMessage, Socket]>((resolve, reject) => {
      request({ host: '127.0.0.1', port, headers })
        .on('upgrade', (answer, socket) => resolve([answer, socket as Socket]))
        .on('response', ({ statusCode }) => reject(new Error(`HTTP ${statusCode}`)))
        .on('error', reject)
        .end();
    });
    clients.push(client);
    const stream = accepted.at(-1);
    assert.ok(stream);
    return { stream, client, extension: response.headers['sec-websocket-extensions'] ?? '' };
  };
}

/** Resolves with the number of bytes on the connection when the message was sent. */
async function send({ stream, client }: { stream: Duplex; client: Socket }, text: string): Promise<number> {
  const before = client.bytesRead;
  const arrived = new Promise((resolve) => client.once('data', resolve));
  client.resume();
  await new Promise<void>((resolve, reject) =>
    stream.write(text, (error) => (error ? reject(error) : resolve())),
  );
  await arrived;
  return client.bytesRead - before;
}

test('the window is small, and the hosts of a fleet are a tenth of their size', async (context) => {
  const open = await opener(context);
  const watch = await open(OFFER);
  assert.match(watch.extension, /server_max_window_bits=12/);
  const text = JSON.stringify(HOSTS);
  const sent = await send(watch, text);
  context.diagnostic(`${sent} of ${text.length} bytes`);
  assert.ok(sent < text.length / 10, `${sent} of ${text.length} bytes`);
});

test('only so many watches are compressed at once, and one that closes makes room', async (context) => {
  const open = await opener(context);
  const watches = [];
  for (let count = 0; count < MAX_COMPRESSED; count += 1) watches.push(await open(OFFER));
  for (const { extension } of watches) assert.match(extension, /permessage-deflate/);
  assert.equal((await open(OFFER)).extension, '');
  watches[0]?.client.destroy();
  await untilPasses(async () => assert.notEqual((await open(OFFER)).extension, ''), 5_000);
});

test('a client that cannot take a window of this size, or asks for no compression, is served without', async (context) => {
  const open = await opener(context);
  for (const [offer, answer] of [
    ['', ''],
    ['permessage-deflate; server_max_window_bits=9', ''],
    ['permessage-deflate; server_max_window_bits=15', 'permessage-deflate; server_max_window_bits=12'],
    ['permessage-deflate', 'permessage-deflate; server_no_context_takeover'],
  ] as const) {
    const { extension } = await open(offer);
    assert.ok(answer ? extension.startsWith(answer) : extension === '', `${offer}: ${extension}`);
  }
});
