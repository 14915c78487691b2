/** What a ClusterIP costs a connection, against the same connection to the endpoint itself. */

import {
  ADDRESSES,
  HOST_NODE,
  NamespaceNetwork,
  whyNoNamespaces,
} from '../../harness/netfilter/namespace-network.js';
import { remoteEndpoint, serviceOf } from '../../harness/netfilter/proxied-services.js';
import { median } from '../bench-result.js';
import type { BenchContext } from '../bench-section.js';

const CLUSTER_IP = '10.96.0.10';
const PORT = 9000;
/** Other Services of the host. A lookup must not depend on their number. */
const OTHER_SERVICES = 1_000;
const CONNECTIONS = 200;

export async function measureServiceProxy({ quick, report, progress, skip }: BenchContext): Promise<void> {
  const why = whyNoNamespaces();
  if (why !== undefined) return skip('ClusterIPs', why);
  progress('ClusterIPs');
  const network = NamespaceNetwork.create();
  try {
    await network.peer('remote').drain(PORT);
    await network.proxy.start(HOST_NODE);
    await network.proxy.apply(services());
    const [rounds, bytes] = quick ? [5, 200e6] : [11, 500e6];
    const client = network.peer('podA');
    const pairs = async (measure: (address: string, port: number) => Promise<number>) => {
      const [floor, product]: [number[], number[]] = [[], []];
      for (let round = -1; round < rounds; round += 1) {
        const direct = await measure(ADDRESSES.remote, PORT);
        const translated = await measure(CLUSTER_IP, 80);
        // The first round warms up both ends.
        if (round < 0) continue;
        floor.push(direct);
        product.push(translated);
      }
      return { floor, product };
    };
    report({
      ...{ section: 'parts', unit: 'ms', goal: { kind: 'ratio', most: 1.05 } },
      name: `${bytes / 1e6} MB through a ClusterIP, ${OTHER_SERVICES} Services, against the endpoint itself`,
      ...(await pairs((address, port) => client.fill(address, port, bytes))),
    });
    report({
      ...{ section: 'parts', unit: 'µs', goal: { kind: 'difference', most: 20 } },
      name: `handshake through a ClusterIP, ${OTHER_SERVICES} Services, against the endpoint itself`,
      ...(await pairs(
        async (address, port) => 1000 * median(await client.connect(address, port, CONNECTIONS)),
      )),
    });
  } finally {
    await network.close();
  }
}

function services() {
  const remote = [remoteEndpoint(ADDRESSES.remote, PORT)];
  const others = Array.from({ length: OTHER_SERVICES }, (_, index) =>
    serviceOf(`other-${index}`, { address: `10.97.${index >> 8}.${index & 255}`, remote }),
  );
  return [serviceOf('measured', { remote }), ...others];
}
