/** Names of Services on a host with a real engine: the first answer of a new name, and endpoints that are not ready. */
import { CLUSTER_DNS_ADDRESS } from '../../../shared/kube/services/cluster-dns.js';
import { NOT_READY_FILE, serviceOf, webDaemon } from '../../e2e/services/service-manifests.js';
import { until } from '../../harness/basics/wait-until.js';
import { ServiceHostFixture } from '../../harness/services/service-host-fixture.js';
import { percentile } from '../bench-result.js';
import type { BenchContext } from '../bench-section.js';

const ZONE = 'default.svc.cluster.local';
/** Beyond the link's round trip, which is below a millisecond on one machine. */
const FIRST_ANSWER_MS = 50;
/** The agent's report and the next answer, after the probe's period of 1 s. */
const NOT_READY_MS = 1_000;
const PROBE_MS = 1_000;
const TTL_SECONDS = 5;

export async function measureServiceNames(bench: BenchContext): Promise<void> {
  bench.progress('names of Services: starting an engine');
  const host = await ServiceHostFixture.open('docker');
  if (typeof host === 'string') return bench.skip('names of Services', host);
  try {
    await host.kubectl.ok('apply -f -', webDaemon('web', 0));
    await host.kubectl.ok('rollout status daemonset/web --timeout=60s');
    await measureFirstAnswers(bench, host);
    await measureNotReady(bench, host);
  } finally {
    await host.close();
  }
  if (bench.swarm)
    bench.skip(
      'Swarm: endpoint not ready',
      "Swarm's name service does not answer in the engines of this bench",
    );
}

/** No Pod has looked up these names: the agent asks the coordinator. */
async function measureFirstAnswers(bench: BenchContext, host: ServiceHostFixture): Promise<void> {
  const names = Array.from({ length: bench.quick ? 20 : 100 }, (_, index) => `new-${index}`);
  bench.progress('names of Services: first answers');
  for (const name of ['warm', ...names]) await host.kubectl.ok('apply -f -', headless(name));
  await untilKnown(host, 'warm');
  const script = `
    const { Resolver } = require('node:dns').promises;
    const resolver = new Resolver();
    resolver.setServers(['${CLUSTER_DNS_ADDRESS}']);
    (async () => {
      const times = [];
      for (const name of ${JSON.stringify(names)}) {
        const from = performance.now();
        await resolver.resolve4(name + '.${ZONE}');
        times.push(performance.now() - from);
      }
      console.log(JSON.stringify(times));
    })()`;
  const times = JSON.parse(await host.onHost(process.execPath, '-e', script)) as number[];
  bench.report({
    ...{ section: 'real', name: 'first answer of a new name, p95', unit: 'ms', floor: [] },
    product: [percentile(times, 0.95)],
    goal: { kind: 'product', most: FIRST_ANSWER_MS },
  });
}

async function measureNotReady(bench: BenchContext, host: ServiceHostFixture): Promise<void> {
  await untilKnown(host, 'warm');
  const file = `${await host.filesOf('web')}${NOT_READY_FILE}`;
  const product: number[] = [];
  for (let round = 0; round < (bench.quick ? 3 : 10); round += 1) {
    bench.progress(`names of Services: an endpoint that is not ready, ${round + 1}`);
    const script = `
      const { Resolver } = require('node:dns').promises;
      const resolver = new Resolver();
      resolver.setServers(['${CLUSTER_DNS_ADDRESS}']);
      const from = performance.now();
      require('node:fs').writeFileSync(${JSON.stringify(file)}, '');
      const ask = () => resolver.resolve4('warm.${ZONE}').then(() => setTimeout(ask, 20), () => {
        console.log(performance.now() - from);
      });
      ask()`;
    product.push(Number(await host.onHost(process.execPath, '-e', script)));
    await host.onHost('rm', file);
    await untilKnown(host, 'warm');
  }
  bench.report({
    ...{ section: 'real', unit: 'ms', product, floor: [] },
    name: `endpoint not ready until no answer has it, its probe runs each second (clients keep answers for ${TTL_SECONDS} s)`,
    goal: { kind: 'product', most: NOT_READY_MS + PROBE_MS },
  });
}

const headless = (name: string) => serviceOf('web', name, { clusterIP: 'None' });

async function untilKnown(host: ServiceHostFixture, name: string): Promise<void> {
  const isKnown = async () => {
    const script = `
      const { Resolver } = require('node:dns').promises;
      const resolver = new Resolver();
      resolver.setServers(['${CLUSTER_DNS_ADDRESS}']);
      resolver.resolve4('${name}.${ZONE}').then(() => console.log('known'), () => undefined)`;
    return (await host.onHost(process.execPath, '-e', script)).includes('known');
  };
  await until(isKnown, { timeoutMs: 30_000, what: `${name} to resolve`, pollMs: 200 });
}
