import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { HostService, LocalEndpoint } from '../../../agent/decisions/services/host-service.js';
import { createPodDialer } from '../../../agent/services/pod-dialer.js';
import { ServiceRelay } from '../../../agent/services/service-relay.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock, systemClock } from '../../../shared/process/time/clock.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { until } from '../../harness/basics/wait-until.js';
import { serviceView } from '../../harness/services/service-views.js';

const NODE = '127.0.0.2';
const POD = '127.0.0.3';

const noDriver = { inspectPod: async () => [], dial: () => Promise.reject(new Error('not expected')) };

describe('relay of a Service', () => {
  let relayPort: number;
  let podPort: number;
  let pod: Server;
  let onPodConnection: (socket: Socket) => void;
  const podSockets = new Set<Socket>();
  let services: HostService[] = [];
  let onChange = (): void => undefined;
  let relay: ServiceRelay;
  const clock = new ManualClock();

  const endpoint = (state: LocalEndpoint['state'], address = POD): LocalEndpoint => ({
    node: 'node-0',
    hostname: 'node-0',
    zone: '',
    addresses: [NODE],
    ports: [relayPort],
    state,
    direct: { addresses: [address], ports: [podPort] },
  });
  const setEndpoints = (...local: LocalEndpoint[]): void => {
    services = [{ view: serviceView('web', { relayPorts: [relayPort] }), local }];
    onChange();
  };
  const client = async (): Promise<Socket> => {
    const socket = connect({ host: NODE, port: relayPort, allowHalfOpen: true });
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    return socket;
  };
  const canConnect = () =>
    client().then(
      (socket) => {
        socket.destroy();
        return true;
      },
      () => false,
    );

  before(async () => {
    pod = createServer({ allowHalfOpen: true }, (socket) => {
      podSockets.add(socket);
      socket.on('error', () => undefined).on('close', () => podSockets.delete(socket));
      onPodConnection(socket);
    });
    pod.listen(0, POD);
    await once(pod, 'listening');
    podPort = (pod.address() as { port: number }).port;
  });
  after(() => void pod.close());

  beforeEach(async () => {
    relayPort = await freePort();
    onPodConnection = (socket) => void socket.pipe(socket);
    relay = new ServiceRelay({
      services: {
        all: () => services,
        onChange: (listener) => {
          onChange = listener;
        },
      },
      dial: createPodDialer({ driver: noDriver, findPod: () => undefined, clock: systemClock }),
      addresses: () => [NODE],
      clock,
      log: silentLogger,
    });
    services = [];
    relay.start();
  });
  afterEach(() => {
    relay.stop();
    for (const socket of podSockets) socket.destroy();
  });

  test('bytes pass in both directions, also after the client has ended its side', async () => {
    onPodConnection = (socket) => {
      const request: Buffer[] = [];
      socket.on('data', (bytes) => request.push(bytes));
      socket.on('end', () => socket.end(Buffer.concat(request).toString().toUpperCase()));
    };
    setEndpoints(endpoint('ready'));
    await until(canConnect);
    const socket = await client();
    socket.end('a request');
    const response: Buffer[] = [];
    for await (const bytes of socket) response.push(bytes as Buffer);
    assert.equal(Buffer.concat(response).toString(), 'A REQUEST');
  });

  test('a client that does not read stops the Pod from sending', async () => {
    let sent = 0;
    onPodConnection = (socket) => {
      const block = Buffer.alloc(1024 * 1024);
      const send = (): void => {
        while (socket.writable && socket.write(block)) sent += block.length;
        sent += block.length;
        socket.once('drain', send);
      };
      send();
    };
    setEndpoints(endpoint('ready'));
    await until(canConnect);
    sent = 0;
    const socket = await client();
    socket.pause();
    let [before, equal] = [-1, 0];
    // The amount is limited by the buffers of the kernel.
    await until(
      () => {
        equal = sent === before ? equal + 1 : 0;
        before = sent;
        return equal >= 10;
      },
      { pollMs: 20 },
    );
    assert.ok(sent > 0 && sent < 64 * 1024 * 1024, `${sent} bytes`);
    socket.destroy();
  });

  test('a port without a Pod refuses clients', async () => {
    setEndpoints(endpoint('ready'));
    await until(canConnect);
    setEndpoints(endpoint('notReady'));
    await until(async () => !(await canConnect()));
    setEndpoints(endpoint('terminating'));
    await until(canConnect);
  });

  test('connections end when their Pod is removed, and continue while it terminates', async () => {
    setEndpoints(endpoint('ready'));
    await until(canConnect);
    const socket = await client();
    socket.write('hello');
    await once(socket, 'data');
    setEndpoints(endpoint('terminating'));
    socket.write('again');
    await once(socket, 'data');
    const closed = once(socket, 'close');
    socket.on('end', () => socket.end());
    setEndpoints(endpoint('ready', '127.0.0.4'));
    await closed;
  });

  test('a Pod that refuses ends the connection of the client', async () => {
    setEndpoints(endpoint('ready', '127.0.0.9'));
    await until(canConnect);
    const socket = await client();
    const closed = once(socket, 'close');
    socket.on('end', () => socket.end()).resume();
    await closed;
  });

  test('a relay port in use is tried again', async () => {
    const other = createServer().listen(relayPort, NODE);
    await once(other, 'listening');
    setEndpoints(endpoint('ready'));
    await until(() => canConnect());
    other.close();
    await once(other, 'close');
    await until(() => {
      clock.advance(60_000);
      return canConnect();
    });
    const socket = await client();
    socket.write('x');
    assert.equal(String((await once(socket, 'data'))[0]), 'x');
    socket.destroy();
  });

  test('a stopped relay refuses clients and ends its connections', async () => {
    setEndpoints(endpoint('ready'));
    await until(canConnect);
    const socket = await client();
    socket.write('hello');
    await once(socket, 'data');
    const closed = once(socket, 'close');
    socket.on('end', () => socket.end());
    relay.stop();
    await closed;
    assert.equal(await canConnect(), false);
  });
});

test('a Pod without a route is dialled from inside its network', async () => {
  const dialled: unknown[] = [];
  const echo = createServer((socket) => void socket.pipe(socket)).listen(0, POD);
  await once(echo, 'listening');
  const { port } = echo.address() as { port: number };
  const dial = createPodDialer({
    driver: {
      inspectPod: async () => [{ id: 'c1', state: 'running' } as never],
      dial: async (id, wanted) => {
        dialled.push([id, wanted]);
        const socket = connect(port, POD);
        await once(socket, 'connect');
        return socket;
      },
    },
    findPod: (address) => (address === '255.255.255.255' ? 'pod-1' : undefined),
    clock: systemClock,
  });
  const socket = await dial({ address: '255.255.255.255', port: 80 });
  assert.deepEqual(dialled, [['c1', 80]]);
  socket.destroy();
  await assert.rejects(dial({ address: '127.0.0.9', port: 1 }), /ECONNREFUSED/);
  echo.close();
});
