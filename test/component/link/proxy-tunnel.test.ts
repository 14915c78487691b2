/** Tunnels through proxies that do not answer as they should. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { tunnelOpener, tunnelOpenerOf } from '../../../shared/link/forward-proxy/proxy-tunnel.js';
import { until } from '../../harness/basics/wait-until.js';

const TARGET = new URL('https://fleet.test:6443');

/** A server that treats each connection like this. Returns its address, and how many connections are open. */
async function proxy(context: TestContext, treat: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    treat(socket);
    // Otherwise the end of the connection is not read.
    socket.resume();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { url: new URL(`http://ann:s3cret@127.0.0.1:${(server.address() as AddressInfo).port}`), sockets };
}

const FAULTS: readonly [what: string, treat: (socket: Socket) => void, expected: RegExp][] = [
  [
    'does not answer',
    () => undefined,
    /no tunnel to fleet\.test:6443 through the proxy .*: no answer in 0\.1 s/,
  ],
  [
    'closes the connection',
    (socket) => socket.once('data', () => socket.end()),
    /no tunnel .*: socket hang up/,
  ],
  ['does not speak HTTP', (socket) => socket.write('220 mail.test ESMTP\r\n'), /no tunnel .*: Parse Error/],
  [
    'refuses with a long text',
    (socket) => socket.once('data', () => socket.end(`HTTP/1.1 502 ${'x'.repeat(900)}\r\n\r\n`)),
    /refused a tunnel to fleet\.test:6443: status 502 x{1,100}$/,
  ],
];

for (const [what, treat, expected] of FAULTS)
  test(`a proxy that ${what} is reported without its credentials, and its connection is closed`, async (context) => {
    const { url, sockets } = await proxy(context, treat);
    await assert.rejects(
      tunnelOpenerOf(url)(TARGET, 100) ?? assert.fail(),
      ({ message }: Error) => expected.test(message) && !message.includes('s3cret'),
    );
    await until(() => sockets.size === 0);
  });

test('bytes that follow the proxy’s answer at once belong to the tunnel', async (context) => {
  const { url } = await proxy(context, (socket) =>
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nfrom the server')),
  );
  const tunnel = (await tunnelOpener({ httpsProxy: url })?.(TARGET)) ?? assert.fail();
  const [bytes] = await once(tunnel, 'data');
  assert.equal(String(bytes), 'from the server');
  tunnel.destroy();
});

test('a server that NO_PROXY names needs no tunnel', () => {
  const open = tunnelOpener({ httpsProxy: new URL('http://127.0.0.1:1'), noProxy: '.test' });
  assert.equal(open?.(TARGET), undefined);
});
