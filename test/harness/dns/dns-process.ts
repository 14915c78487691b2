/**
 * The cluster DNS in a process, for the network namespace of a test engine or a measurement:
 * `node dns-process.js RESOLVER [LISTEN]`. Prints `serving`. It knows a few Services and asks RESOLVER, `ADDRESS:PORT`, for
 * other names. LISTEN replaces its address. SIGTERM stops the server. SIGUSR2 also does, prints `stopped`, and leaves the
 * process running, like an agent whose other components take long to stop.
 */
import { createClusterDns } from '../../../agent/dns/cluster-dns-server.js';
import { ensureDnsAddress, LocalClients } from '../../../agent/dns/serving/host-network.js';
import {
  inheritedSockets,
  openSockets,
  releaseInheritedSockets,
} from '../../../agent/dns/serving/server-sockets.js';
import { CLUSTER_DNS_ADDRESS, DNS_PORT } from '../../../shared/kube/services/cluster-dns.js';
import { createLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { systemRandom } from '../../../shared/process/time/random.js';
import { endpointOf, KnownServices, localOf, serviceOf } from './dns-services.js';

const [, , resolver = '', listen = `${CLUSTER_DNS_ADDRESS}:${DNS_PORT}`] = process.argv;
const [address = '', port = ''] = resolver.split(':');
const [ownAddress = '', ownPort = ''] = listen.split(':');
const clients = new LocalClients(systemClock);
const many = Array.from({ length: 64 }, (_, index) => endpointOf(`node-${index}`, `10.1.0.${index}`));
const dns = createClusterDns({
  services: new KnownServices([
    serviceOf('web', { type: 'clusterIP', address: '10.96.0.10' }),
    serviceOf('logs', { type: 'headless' }, [endpointOf('node-2.example.com', '10.1.0.2')], {}, [
      localOf('node-1', '172.17.0.9'),
    ]),
    serviceOf('many', { type: 'headless' }, many),
  ]),
  hasNamespace: (namespace) => namespace === 'default',
  canPodsConnect: () => Promise.resolve(true),
  warn: () => undefined,
  clock: systemClock,
  random: systemRandom,
  log: createLogger('info'),
  host: {
    nameservers: { current: () => (address ? [{ address, port: Number(port) }] : []) },
    isLocalClient: (client) => clients.has(client),
    ensureAddress: ownAddress === CLUSTER_DNS_ADDRESS ? ensureDnsAddress : () => Promise.resolve(),
    openSockets: async () =>
      (await inheritedSockets(process.env)) ?? (await openSockets(ownAddress, Number(ownPort))),
    isService: false,
  },
});
await dns.start?.();
process.stdout.write(dns.address() ? 'serving\n' : 'not serving\n');
process.on('SIGTERM', () => process.exit(0));
process.on('SIGUSR2', async () => {
  await releaseInheritedSockets();
  await dns.stop?.();
  process.stdout.write('stopped\n');
});
setInterval(() => undefined, 2 ** 30);
