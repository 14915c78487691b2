/** Ports of tests: none is chosen twice, none is a port of the product, and none is in use. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { ETCD_MEMBERS, FIRST_ETCD_PORT } from '../../../coordinator/cli/local-cluster/cluster-layout.js';
import { freePort, freeUdpAndTcpPort, openUdpAndTcp } from '../../harness/basics/test-sockets.js';

/** With so many of 5,000 ports, a choice without memory repeats one in 98 of 100 runs. */
const MANY = 200;

test('no port is chosen twice, and none is one that the product tries for etcd or a node port', async () => {
  const ports = new Set<number>();
  for (let count = 0; count < MANY; count++) {
    const port = await (count % 2 === 0 ? freePort() : freeUdpAndTcpPort());
    assert.ok(port > FIRST_ETCD_PORT + 100 * ETCD_MEMBERS && port < 30_000, `${port}`);
    ports.add(port);
  }
  assert.equal(ports.size, MANY);
});

for (const [what, open] of [
  ['UDP', async (port: number) => once(createSocket('udp4').bind(port, '127.0.0.1').unref(), 'listening')],
  ['TCP', async (port: number) => once(createServer().listen(port, '127.0.0.1').unref(), 'listening')],
] as const)
  test(`a port that is in use on ${what} is not opened, another one is tried`, async () => {
    const [used, free] = [await freeUdpAndTcpPort(), await freeUdpAndTcpPort()];
    await open(used);
    const ports = [used, free];
    const { udp, tcp } = await openUdpAndTcp('127.0.0.1', async () => ports.shift() ?? assert.fail());
    assert.equal(udp.address().port, free);
    udp.close();
    tcp.close();
  });
